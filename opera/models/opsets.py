"""The opsets of ONNX: those that models may declare, and those that compilers claim."""

NEWEST_CLAIMED = 26
"""The newest opset that a release of a compiler says to load. A compiler that says nothing is held to it, too."""
OLDEST = 13
"""No model is declared for an older opset, unless it was recorded so: exporters of today write none."""
NEWEST = 28
"""The newest opset of the release of onnx that OPERA's facts about operators are from."""
