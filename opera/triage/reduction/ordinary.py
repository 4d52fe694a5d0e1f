"""Instances that a person would rather write: several elements that differ, one dimension or more. The module knows no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.triage.reduction.places import Place, edit, edited, places, put, stretched, with_axis

_SIZE = 2
"""Size of a dimension that grows: the smallest one in which elements can differ."""
_GROWN = 16
"""Elements of a tensor that grows no further."""


def more_ordinary(instance: Instance) -> Iterator[Instance]:
    """Dimensions where there are none, elements where there are none or one, a second tensor in a sequence of one."""
    grown = [edited(instance, each) for each in (*_GROWTHS, _with_integers(_longer))]
    tensors = [(place, value) for place, value in places(instance) if isinstance(value, Tensor)]
    for place, tensor in tensors:
        axes = reversed(range(max(1, len(tensor.shape))))
        grown.extend(put(instance, place, _grown(tensor, axis)) for axis in axes)
    for place, value in places(instance):
        if isinstance(value, (list, tuple)) and len(value) == 1 and isinstance(value[0], Tensor):
            grown.append(put(instance, place, type(value)((*value, *value))))  # type: ignore[arg-type]
    for candidate in grown:
        if candidate != instance:
            yield from varied(candidate)
            yield candidate


def varied(instance: Instance) -> Iterator[Instance]:
    """Elements that count up, from another number in each tensor: in all tensors, then in one. Truth values in turn."""
    for first in (1, 0):
        start = count(first)
        yield edited(instance, lambda _, value, start=start: _counting(value, next(start)) if isinstance(value, Tensor) else value)
    for place, value in places(instance):
        if isinstance(value, Tensor):
            yield from (put(instance, place, _counting(value, first)) for first in (1, 2, 0))


def _counting(tensor: Tensor, first: int) -> Tensor:
    def change(array: Array) -> Array:
        numbers = np.arange(array.size) + first
        return (numbers % 2 if array.dtype.kind == "b" else numbers.astype(np.float64)).reshape(array.shape)

    return edit(tensor, change) or tensor


def _grown(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* with `_SIZE` slices along *axis* where it has none or one; with a dimension where it has none."""
    if not tensor.shape:
        return stretched(with_axis(tensor, 0), 0, _SIZE)
    if tensor.shape[axis] > 1 or tensor.size > _GROWN:
        return tensor
    return stretched(tensor, axis, _SIZE)


def _ranked(_: Place, value: Value) -> Value:
    return _grown(value, 0) if isinstance(value, Tensor) and not value.shape else value


def _filled(_: Place, value: Value) -> Value:
    if not isinstance(value, Tensor) or value.size:
        return value
    filled = value
    for axis, dim in enumerate(value.shape):
        filled = filled if dim else stretched(filled, axis, _SIZE)
    return filled


def _longer(_: Place, value: Value) -> Value:
    """The last dimension of a tensor of one element."""
    return _grown(value, -1) if isinstance(value, Tensor) and value.shape and value.size == 1 else value


def _larger(_: Place, value: Value) -> Value:
    """The last two dimensions of a tensor of one element: a matrix of several rows."""
    if isinstance(value, Tensor) and value.size == 1:
        for axis in range(max(0, len(value.shape) - 2), len(value.shape)):
            value = stretched(value, axis, _SIZE)
    return value


def _with_integers(grow: Callable[[Place, Value], Value]) -> Callable[[Place, Value], Value]:
    """*grow*, and 2 in place of every integer 1: sizes that parameters repeat."""
    return lambda place, value: _SIZE if type(value) is int and value == 1 else grow(place, value)


_GROWTHS = (_ranked, _filled, _larger, _longer)
