"""The opsets of ONNX that compilers claim."""

NEWEST_CLAIMED = 26
"""The newest opset that a release of a compiler says to load. A compiler that says nothing is held to it, too."""
