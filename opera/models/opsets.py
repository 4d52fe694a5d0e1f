"""The opsets of ONNX: those that models may declare, and those that compilers claim."""

NEWEST_CLAIMED = 26
"""The newest opset that a compiler is held to which does not say what it loads."""
OLDEST = 13
"""No model is declared for an older opset, unless it was recorded so: exporters of today write none."""
NEWEST = 28
"""The newest opset of the release of onnx that OPERA's facts about operators are from."""
