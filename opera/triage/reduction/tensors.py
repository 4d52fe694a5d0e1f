"""Tensors of an instance as arrays, and with other values, dtypes and shapes. Values that were not kept stay unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opera.arrays import Array, numpy_dtype, tensor_array, to_bytes
from opera.instance import DType, Tensor
from opera.instance.values import Value

Edit = Callable[[Array], Array]


def array_of(tensor: Tensor) -> Array | None:
    """The values of *tensor*; None if they were not kept or cannot be read."""
    if tensor.data is None or tensor.layout != "strided":
        return None
    try:
        return tensor_array(tensor)
    except (ValueError, TypeError, AttributeError):
        return None


def edit(tensor: Tensor, change: Edit) -> Tensor | None:
    """*tensor* with *change* applied to its values, which keep dtype and shape; None if it has none, or nothing changes."""
    array = array_of(tensor)
    if array is None or not array.size or tensor.dtype == "string":
        return None
    try:
        with np.errstate(all="ignore"):
            new = np.asarray(change(array)).astype(array.dtype).reshape(array.shape)
    except (TypeError, ValueError):
        return None
    data = to_bytes(new)
    return None if data == tensor.data else replace(tensor, data=data, constraint=None, distribution=None)


def with_dtype(tensor: Tensor, dtype: str) -> Tensor | None:
    """*tensor* in another dtype, its values converted; None if that cannot be done."""
    array = array_of(tensor)
    if array is None:
        return replace(tensor, dtype=dtype, constraint=None, distribution=None) if tensor.data is None else None
    if "string" in (dtype, tensor.dtype):
        return None
    try:
        with np.errstate(all="ignore"):
            source = np.real(array) if array.dtype.kind == "c" and not dtype.startswith("complex") else array
            if source.dtype.kind not in "iub" and dtype.startswith(("int", "uint", "bool")):
                source = np.nan_to_num(source.astype(np.float64))
            converted = source.astype(numpy_dtype(dtype))
        return replace(tensor, dtype=dtype, data=to_bytes(converted), constraint=None, distribution=None)
    except (TypeError, ValueError, AttributeError):
        return None


def retyped(value: Value, old: str, new: str) -> Value:
    """*value* in dtype *new* if it is a tensor of dtype *old*, or that dtype itself; else unchanged."""
    if isinstance(value, DType) and value.name == old:
        return DType(new)
    if isinstance(value, Tensor) and value.dtype == old:
        return with_dtype(value, new) or value
    return value


def with_values(tensor: Tensor, array: Array) -> Tensor:
    """A contiguous tensor with the shape and the values of *array*, in the dtype of *tensor*."""
    return Tensor(tuple(int(dim) for dim in array.shape), tensor.dtype, to_bytes(array), None, tensor.layout)


def shrunk(tensor: Tensor, axis: int, size: int, *, from_end: bool = False) -> Tensor:
    """The first *size* slices of *tensor* along *axis*, or the last ones."""
    first = tensor.shape[axis] - size if from_end else 0
    return _resized(tensor, axis, size, lambda array: np.take(array, np.arange(first, first + size), axis))


def without_slice(tensor: Tensor, axis: int, index: int) -> Tensor:
    """*tensor* without one slice along *axis*."""
    return _resized(tensor, axis, tensor.shape[axis] - 1, lambda array: np.delete(array, index, axis))


def stretched(tensor: Tensor, axis: int, size: int) -> Tensor:
    """*tensor* with its slices along *axis* repeated in turn up to *size*; zeros if the axis is empty."""

    def repeat(array: Array) -> Array:
        if not array.shape[axis]:
            return np.zeros((*array.shape[:axis], size, *array.shape[axis + 1 :]), array.dtype)
        return np.take(array, np.arange(size) % array.shape[axis], axis)

    return _resized(replace(tensor, strides=None), axis, size, repeat)


def without_axis(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* without a dimension: its first slice along *axis*, zeros if it has none."""
    axis %= len(tensor.shape)
    shape = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    strides = None if tensor.strides is None else (*tensor.strides[:axis], *tensor.strides[axis + 1 :])
    return _shaped(tensor, shape, strides, lambda array: np.take(array, 0, axis) if array.shape[axis] else np.zeros(shape, array.dtype))


def with_axis(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* with a new dimension of size 1 before *axis*."""
    return replace(tensor, shape=(*tensor.shape[:axis], 1, *tensor.shape[axis:]), strides=None)


def _resized(tensor: Tensor, axis: int, size: int, change: Edit) -> Tensor:
    shape = [*tensor.shape]
    shape[axis] = size
    return _shaped(tensor, tuple(shape), tensor.strides, change)


def _shaped(tensor: Tensor, shape: tuple[int, ...], strides: tuple[int, ...] | None, change: Edit) -> Tensor:
    """*tensor* with another shape, *change* applied to its values, and *strides* if they still say something."""
    array = array_of(tensor)
    kept = None if strides is None or _contiguous(shape, strides) else strides
    if array is None:
        return replace(tensor, shape=shape, strides=kept, data=None)
    data = to_bytes(np.asarray(change(array)))
    return replace(tensor, shape=shape, strides=kept, data=data, constraint=None, distribution=None)


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for dim, stride in zip(reversed(shape), reversed(strides), strict=True):
        if dim > 1 and stride != step:
            return False
        step *= max(dim, 1)
    return True
