"""Instances that a person would rather write: several elements that differ, one dimension or more. The module knows no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, zip_longest

import numpy as np

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.triage.reduction.places import Place, array_of, edit, edited, get, places, put, resized, retyped, stretched, with_axis

_SIZE = 2
"""Size of a dimension that grows: the smallest one in which elements can differ."""
_GROWN = 16
"""Elements of a tensor that grows no further."""
_DTYPES = ("float64", "int64", "float32", "int32", "bool")


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


def unlike(instance: Instance) -> Iterator[Instance]:
    """Instances that differ from *instance* in several respects: larger ones, those of a higher rank, of other dtypes, of other values.

    A larger tensor has all elements of the smaller one; further ones count up, or repeat those.
    """
    tensors = [value for _, value in places(instance) if isinstance(value, Tensor)]
    sizes = dict.fromkeys(dim for tensor in tensors for dim in tensor.shape if dim)
    grown = [*(edited(instance, resized(size, size + _SIZE)) for size in sizes), edited(instance, _taller)]
    continued = [edited(each, _continued(instance)) for each in grown]
    larger = continued[0]
    dtypes = [
        edited(larger, lambda _, value, old=old, new=new: retyped(value, old, new))
        for old in dict.fromkeys(tensor.dtype for tensor in tensors)
        for new in _DTYPES
        if new != old
    ]
    seen = [instance]
    for together in zip_longest((*continued, *grown), dtypes, varied(larger), varied(instance)):
        for each in together:
            if each is not None and each not in seen:
                seen.append(each)
                yield each


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


def _taller(_: Place, value: Value) -> Value:
    return stretched(with_axis(value, 0), 0, _SIZE) if isinstance(value, Tensor) else value


def _continued(instance: Instance) -> Callable[[Place, Value], Value]:
    """The elements that a tensor has in *instance*, and further ones that count up from 2."""

    def carry_on(place: Place, value: Value) -> Value:
        original = get(instance, place)
        old = array_of(original) if isinstance(original, Tensor) else None
        if not isinstance(value, Tensor) or old is None or old.dtype.kind == "O":
            return value

        def change(array: Array) -> Array:
            further = (np.arange(array.size - old.size) + 2).astype(np.float64).astype(array.dtype)
            return np.concatenate([old.reshape(-1), further]).reshape(array.shape)

        return edit(value, change) or value

    return carry_on


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
