"""Dtypes that are parameters: as such, or as the number that ONNX has for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opera.instance import DType, Graph, Instance, Kind, Tensor

_FORMAT = "onnx.TypeProto"
_NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16, "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24,
    "uint2": 25, "int2": 26,
}  # fmt: skip
"""Of `onnx.TensorProto.DataType`."""
_NAMES = {number: name for name, number in _NUMBERS.items()}
_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "output_datatype", "softmax_precision", "stash_type"})
"""Attributes that hold such a number, in every operator of ONNX that has one of that name."""
_OPEN_DIMENSION = b"\x0a\x00"


def dtype_meant(instance: Instance, name: str, value: Any) -> str | None:
    """The dtype that the parameter *name* of *instance* stands for; None where it is no dtype."""
    if isinstance(value, DType):
        return value.name
    return _NAMES.get(value) if type(value) is int and _holds_numbers(instance, name) else None


def parameter_for(instance: Instance, name: str, dtype: str) -> Any:
    """Inverse of `dtype_meant`: what the parameter *name* has to be for *dtype*."""
    return _NUMBERS[dtype] if _holds_numbers(instance, name) else DType(dtype)


def _holds_numbers(instance: Instance, name: str) -> bool:
    return instance.kind is Kind.NODE and name in _ATTRIBUTES


def with_open_outputs(instance: Instance, expected: Sequence[Any]) -> Instance:
    """*instance* with the dtype and the rank of each of *expected* declared, and no size; as it is where that cannot be said.

    A model must declare the outputs of an ONNX node whose types nothing else tells.
    """
    if instance.kind is not Kind.NODE or not all(isinstance(each, Tensor) and each.dtype in _NUMBERS for each in expected):
        return instance
    types = [Graph(_FORMAT, _type(each)) for each in expected]
    context = tuple(item for item in instance.context if item[0] != "output_types")
    return replace(instance, context=(*context, ("output_types", types))) if types else instance


def _type(tensor: Tensor) -> bytes:
    """A serialised TypeProto: a tensor of that element type, with as many dimensions of unknown size."""
    shape = _OPEN_DIMENSION * len(tensor.shape)
    content = bytes((0x08, _NUMBERS[tensor.dtype], 0x12, len(shape))) + shape
    return bytes((0x0A, len(content))) + content
