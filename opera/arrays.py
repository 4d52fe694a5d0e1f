"""Tensors as numpy arrays: one name for each dtype, and the bytes of the elements.

`ml_dtypes` is needed only for the dtypes that numpy lacks; a worker whose tests have none need not have it installed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Union, cast

import numpy as np
import numpy.typing as npt

from opera.instance import Tensor
from opera.instrumentation.tensors import DTYPE_BITS

Array = npt.NDArray[Any]
ModelValue = Union[None, Array, np.generic, "list[ModelValue]", "tuple[ModelValue, ...]"]
"""What a model takes or gives: an array, a list of such values, or None for what is left out."""
Outputs = Sequence[ModelValue]
"""What a model gives: one value for each output."""
Signature = Sequence[tuple[str | None, Sequence[int | None] | None]]
"""dtype and shape of each output; None for a dtype, a size or a whole shape that is not stated."""


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype that holds elements of dtype *name*, one or more whole bytes each."""
    if name == "string":
        return np.dtype(object)
    plain = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}.get(name, name)
    try:
        return np.dtype(plain)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, plain))


@lru_cache(256)
def dtype_name(dtype: np.dtype[Any]) -> str:
    """The canonical name of *dtype*.

    Raises:
        ValueError: no tensor of an instance can have it.
    """
    if dtype.kind in "OSU":
        return "string"
    if dtype.name not in DTYPE_BITS:
        raise ValueError(f"no canonical name for numpy dtype {dtype}")
    return dtype.name


def to_bytes(array: Array) -> bytes:
    """The elements in C order, little-endian; strings as a JSON array."""
    if array.dtype.kind in "OSU":
        return json.dumps([as_text(item) for item in array.reshape(-1).tolist()]).encode()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False) if array.dtype.byteorder == ">" else array
    return little.tobytes("C")


def from_bytes(data: bytes | memoryview, dtype: str, shape: tuple[int, ...]) -> Array:
    """Inverse of `to_bytes`; the array is read-only where that saves a copy."""
    if dtype == "string":
        flat = np.empty(len(items := json.loads(bytes(data))), dtype=object)
        flat[:] = items
        return flat.reshape(shape)
    return np.frombuffer(data, dtype=numpy_dtype(dtype)).reshape(shape)


def tensor_array(tensor: Tensor) -> Array:
    """The kept values of *tensor* as an array of its shape; raises ValueError where none were kept."""
    if tensor.data is None:
        raise ValueError("the values of this tensor were not kept")
    return from_bytes(tensor.data, tensor.dtype, tensor.shape)


def as_text(item: object) -> str:
    """An element of a string tensor: bytes count as UTF-8."""
    return item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else str(item)


def is_array(value: object) -> bool:
    """Whether *value* is a numpy array or a numpy scalar."""
    return isinstance(value, (np.ndarray, np.generic))


def as_array(value: object) -> Array:
    """A numpy scalar as a 0-d array, an array as it is."""
    return cast(Array, value) if isinstance(value, np.ndarray) else np.asarray(value)


def wide_integers(array: Array, dtype: str = "int64") -> Array:
    """*array* in *dtype* where its elements are integers, for int64 signed ones, that *dtype* holds; else as it is."""
    if array.dtype.kind not in ("i" if dtype == "int64" else "iu"):
        return array
    with np.errstate(invalid="ignore"):
        wide = array.astype(dtype, copy=False)
        return wide if bool((wide.astype(array.dtype) == array).all()) else array


def pack(array: Array) -> bytes:
    """The memory of a runtime's tensor: as `to_bytes`, but elements narrower than a byte share one, the first in the lowest bits."""
    bits = DTYPE_BITS[dtype_name(array.dtype)]
    if not 0 < bits < 8 or 8 % bits:
        return to_bytes(array)
    per_byte = 8 // bits
    codes = np.frombuffer(array.tobytes("C"), np.uint8) & ((1 << bits) - 1)
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[: codes.size] = codes
    rows = padded.reshape(-1, per_byte) << (np.arange(per_byte, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(rows, axis=1).astype(np.uint8).tobytes()


def packed_size(dtype: str, count: int) -> int:
    """Bytes that *count* elements of *dtype* take when packed."""
    return -(-count * DTYPE_BITS[dtype] // 8)


def unpack(data: bytes, dtype: str, shape: tuple[int, ...]) -> Array:
    """Inverse of `pack`; signed integers keep their sign."""
    bits = DTYPE_BITS[dtype]
    if not 0 < bits < 8 or 8 % bits:
        return from_bytes(data, dtype, shape)
    count = int(np.prod(shape, dtype=np.int64))
    codes = (np.frombuffer(data, np.uint8)[:, None] >> (np.arange(8 // bits, dtype=np.uint8) * bits)) & ((1 << bits) - 1)
    flat = codes.reshape(-1)[:count].astype(np.uint8)
    if dtype.startswith("int"):
        sign = 1 << (bits - 1)
        return ((flat.astype(np.int8) ^ sign) - sign).astype(numpy_dtype(dtype)).reshape(shape)
    return flat.view(numpy_dtype(dtype)).reshape(shape)
