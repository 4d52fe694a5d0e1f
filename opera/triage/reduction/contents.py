"""Tensors of instances as arrays, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from opera.arrays import Array, numpy_dtype, tensor_array, to_bytes
from opera.instance import Tensor

Edit = Callable[[Array], Array]


def array_of(tensor: Tensor) -> Array | None:
    """The values of *tensor*; None where they were not kept or cannot be read."""
    if tensor.data is None or tensor.layout != "strided":
        return None
    try:
        return tensor_array(tensor)
    except (ValueError, TypeError, AttributeError):
        return None


def with_values(tensor: Tensor, array: Array) -> Tensor:
    """*tensor* with the shape and the values of *array*, in its own dtype. Strides that still fit are kept."""
    shape = tuple(int(dim) for dim in array.shape)
    strides = tensor.strides if tensor.strides is not None and len(tensor.strides) == len(shape) else None
    if strides is not None and _contiguous(shape, strides):
        strides = None
    return Tensor(shape, tensor.dtype, to_bytes(array), strides, tensor.layout)


def with_dtype(tensor: Tensor, dtype: str) -> Tensor | None:
    """*tensor* in another dtype, its values converted; None where that cannot be done."""
    array = array_of(tensor)
    if array is None:
        return replace(tensor, dtype=dtype, constraint=None) if tensor.data is None else None
    if "string" in (dtype, tensor.dtype):
        return None
    try:
        with np.errstate(all="ignore"):
            source = np.real(array) if array.dtype.kind == "c" and not dtype.startswith("complex") else array
            if source.dtype.kind not in "iub" and dtype.startswith(("int", "uint", "bool")):
                source = np.nan_to_num(source.astype(np.float64))
            converted = source.astype(numpy_dtype(dtype))
        return replace(tensor, dtype=dtype, data=to_bytes(converted), constraint=None)
    except (TypeError, ValueError, AttributeError):
        return None


def shrunk(tensor: Tensor, axis: int, size: int, *, from_end: bool = False) -> Tensor:
    """The first *size* slices of *tensor* along *axis*, or the last ones."""
    shape = (*tensor.shape[:axis], size, *tensor.shape[axis + 1 :])
    array = array_of(tensor)
    if array is None:
        strides = None if tensor.strides is None or _contiguous(shape, tensor.strides) else tensor.strides
        return replace(tensor, shape=shape, strides=strides, data=None)
    first = tensor.shape[axis] - size if from_end else 0
    return with_values(tensor, np.take(array, np.arange(first, first + size), axis))


def without_slice(tensor: Tensor, axis: int, index: int) -> Tensor:
    """*tensor* without one slice along *axis*."""
    array = array_of(tensor)
    return shrunk(tensor, axis, tensor.shape[axis] - 1) if array is None else with_values(tensor, np.delete(array, index, axis))


def stretched(tensor: Tensor, axis: int, size: int) -> Tensor:
    """*tensor* with its slices along *axis* repeated in turn until there are *size*; zeros where there is none."""
    array = array_of(tensor)
    if array is None:
        return replace(tensor, shape=(*tensor.shape[:axis], size, *tensor.shape[axis + 1 :]), strides=None, data=None)
    if not tensor.shape[axis]:
        return with_values(replace(tensor, strides=None), np.zeros((*tensor.shape[:axis], size, *tensor.shape[axis + 1 :]), array.dtype))
    return with_values(replace(tensor, strides=None), np.take(array, np.arange(size) % tensor.shape[axis], axis))


def without_axis(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* without a dimension: its first slice along *axis*, zeros where it has none."""
    axis %= len(tensor.shape)
    strides = None if tensor.strides is None else (*tensor.strides[:axis], *tensor.strides[axis + 1 :])
    shape = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    if strides is not None and _contiguous(shape, strides):
        strides = None
    array = array_of(tensor)
    if array is None:
        return replace(tensor, shape=shape, strides=strides, data=None)
    values = np.take(array, 0, axis) if tensor.shape[axis] else np.zeros(shape, array.dtype)
    return replace(tensor, shape=shape, strides=strides, data=to_bytes(np.asarray(values)), constraint=None)


def with_axis(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* with a new dimension of size 1 before *axis*."""
    shape = (*tensor.shape[:axis], 1, *tensor.shape[axis:])
    return replace(tensor, shape=shape, strides=None)


def edit(tensor: Tensor, change: Edit) -> Tensor | None:
    """*tensor* with *change* applied to its values, which keep dtype and shape; None where it has none, or nothing changes."""
    array = array_of(tensor)
    if array is None or not array.size or tensor.dtype == "string":
        return None
    try:
        with np.errstate(all="ignore"):
            new = np.asarray(change(array)).astype(array.dtype).reshape(array.shape)
    except (TypeError, ValueError):
        return None
    data = to_bytes(new)
    return None if data == tensor.data else replace(tensor, data=data, constraint=None)


def _contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for dim, stride in zip(reversed(shape), reversed(strides), strict=True):
        if dim > 1 and stride != step:
            return False
        step *= max(dim, 1)
    return True
