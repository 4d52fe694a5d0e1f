"""Tensors as ONNX's protocol buffers, written without ONNX: OPERA's own process imports no library."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opera.arrays import Array, ModelValue, as_array, as_text, dtype_name, is_array, pack
from opera.models.onnx_types import NUMBERS

_DIMS, _DATA_TYPE, _STRINGS, _NAME, _RAW = 1, 2, 6, 8, 9
_SEQUENCE_NAME, _ELEMENT, _TENSORS = 1, 2, 3


class NoTensor(ValueError):
    """A value that neither a TensorProto nor a SequenceProto holds."""


def value_proto(value: ModelValue, name: str) -> bytes:
    """A TensorProto, or a SequenceProto for a list of arrays.

    Raises:
        NoTensor: *value* is absent, or a list of something else.
    """
    if isinstance(value, (list, tuple)):
        if not value or not all(is_array(each) for each in value):
            raise NoTensor("a sequence that is empty, or holds no tensors")
        tensors = [_field(_TENSORS, tensor_proto(as_array(each), "")) for each in value]
        return _field(_SEQUENCE_NAME, name.encode()) + _number(_ELEMENT, 1) + b"".join(tensors)
    if not is_array(value):
        raise NoTensor("an absent optional value")
    return tensor_proto(as_array(value), name)


def tensor_proto(array: Array, name: str) -> bytes:
    """A TensorProto.

    Raises:
        NoTensor: ONNX has no such dtype.
    """
    kind = dtype_name(array.dtype)
    if kind not in NUMBERS:
        raise NoTensor(f"ONNX has no dtype {kind}")
    parts = [_number(_DIMS, size) for size in array.shape]
    parts.append(_number(_DATA_TYPE, NUMBERS[kind]))
    if kind == "string":
        parts += [_field(_STRINGS, as_text(item).encode("utf-8", "surrogateescape")) for item in array.reshape(-1).tolist()]
    parts.append(_field(_NAME, name.encode()))
    if kind != "string":
        parts.append(_field(_RAW, pack(np.ascontiguousarray(array).reshape(array.shape))))
    return b"".join(parts)


def _field(number: int, data: bytes) -> bytes:
    return bytes(_varint(number << 3 | 2)) + bytes(_varint(len(data))) + data


def _number(number: int, value: int) -> bytes:
    return bytes(_varint(number << 3)) + bytes(_varint(value))


def _varint(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value
