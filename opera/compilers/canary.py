"""The canary: one addition per frontend. An adapter on which it does not pass is broken, and no campaign starts on it."""

from __future__ import annotations

import struct

from opera.errors import UserError
from opera.instance import Argument, Instance, Kind, Tensor


def canary(frontend: str) -> Instance:
    """The canary instance of *frontend*; raises UserError for a frontend that has none."""
    left, right = (Tensor((2, 3), "float32", struct.pack("<6f", *numbers)) for numbers in ((0, 1, 2, 3, 4, 5), (1, -1, 0.5, 2, 8, -3)))
    if frontend == "onnx":
        call = (Argument("A", left), Argument("B", right))
        return Instance("onnx", "ai.onnx.Add", Kind.NODE, call=call, context=(("opset", 13), ("outputs", [True])))
    if frontend == "pytorch":
        return Instance("pytorch", "torch.add", Kind.FUNCTION, call=(Argument("input", left), Argument("other", right)))
    raise UserError(f"no canary model for frontend {frontend!r}")
