"""Output types for ONNX nodes whose outputs nothing else tells: a model must declare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.instance import Graph, Instance, Kind, Tensor

_FORMAT = "onnx.TypeProto"
_ELEMENT_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16,
}  # fmt: skip
"""Numbers of `onnx.TensorProto.DataType`."""
_OPEN_DIMENSION = b"\x0a\x00"


def with_open_outputs(instance: Instance, expected: Sequence[Any]) -> Instance:
    """*instance* with the dtype and the rank of each of *expected* declared, and no size; as it is where that cannot be said."""
    if instance.kind is not Kind.NODE or not all(isinstance(each, Tensor) and each.dtype in _ELEMENT_TYPES for each in expected):
        return instance
    types = [Graph(_FORMAT, _type(each)) for each in expected]
    context = tuple(item for item in instance.context if item[0] != "output_types")
    return replace(instance, context=(*context, ("output_types", types))) if types else instance


def _type(tensor: Tensor) -> bytes:
    """A serialised TypeProto: a tensor of that element type, with as many dimensions of unknown size."""
    shape = _OPEN_DIMENSION * len(tensor.shape)
    content = bytes((0x08, _ELEMENT_TYPES[tensor.dtype], 0x12, len(shape))) + shape
    return bytes((0x0A, len(content))) + content
