"""Element types of ONNX by number, and the types that a model declares. OPERA's own process imports no library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opera.instance import DType, Graph, Instance, Kind, Tensor
from opera.instance.values import Value

NUMBERS = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "string": 8, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15, "bfloat16": 16, "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24,
    "uint2": 25, "int2": 26,
}  # fmt: skip
"""Numbers of `TensorProto.DataType`, from onnx.proto."""
_NAMES = {number: name for name, number in NUMBERS.items()}
_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "output_datatype", "softmax_precision", "stash_type"})
"""Attributes that hold such a number, in every operator of ONNX that has one of that name."""
_FORMAT = "onnx.TypeProto"
_OPEN_DIMENSION = b"\x0a\x00"


def dtype_meant(instance: Instance, name: str, value: Value) -> str | None:
    """The dtype that the parameter *name* of *instance* stands for; None if it is no dtype."""
    if isinstance(value, DType):
        return value.name
    return _NAMES.get(value) if type(value) is int and _holds_numbers(instance, name) else None


def parameter_for(instance: Instance, name: str, dtype: str) -> Value:
    """The value with which the parameter *name* stands for *dtype*: the inverse of `dtype_meant`."""
    return NUMBERS[dtype] if _holds_numbers(instance, name) else DType(dtype)


def _holds_numbers(instance: Instance, name: str) -> bool:
    return instance.kind is Kind.NODE and name in _ATTRIBUTES


def with_open_outputs(instance: Instance, expected: Sequence[Value]) -> Instance:
    """*instance* with the dtype and the rank of each of *expected* declared, without sizes; unchanged if one of them has no ONNX type.

    A model must declare the outputs of an ONNX node whose types nothing else tells.
    """
    types = [Graph(_FORMAT, _type(each)) for each in expected if isinstance(each, Tensor) and each.dtype in NUMBERS]
    if instance.kind is not Kind.NODE or len(types) < len(expected):
        return instance
    context = tuple(item for item in instance.context if item[0] != "output_types")
    return replace(instance, context=(*context, ("output_types", types))) if types else instance


def _type(tensor: Tensor) -> bytes:
    """A serialised TypeProto: a tensor of that element type, with as many dimensions of unknown size."""
    shape = _OPEN_DIMENSION * len(tensor.shape)
    content = bytes((0x08, NUMBERS[tensor.dtype], 0x12, len(shape))) + shape
    return bytes((0x0A, len(content))) + content
