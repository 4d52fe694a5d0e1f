"""Other dimensions and ranks: smaller ones, of several tensors and parameters together; and ordinary ones, as a person would write."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import cast

import numpy as np

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.triage.reduction.places import Place, edited, on_tensors, places, put, tensors_of
from opera.triage.reduction.tensors import edit, shrunk, stretched, with_axis, without_axis, without_slice

_FEW = 8
"""Slices of a dimension that are left out one by one."""
_SMALL = 16
"""Elements of an integer tensor whose values may be sizes, and of a tensor that grows no further."""
_SIZE = 2
"""Size of a dimension that grows: the smallest one in which elements can differ."""


def smaller_dimensions(instance: Instance) -> Iterator[Instance]:
    """One size replaced everywhere at once, in shapes and in integers that equal it; then single dimensions of single tensors."""
    tensors = tensors_of(instance)
    for size in sorted({dim for _, tensor in tensors for dim in tensor.shape if dim > 1}, reverse=True):
        for smaller in _smaller(size, 3):
            for from_end in (False, True):
                for what in _Integers:
                    yield edited(instance, _resizer(size, smaller, what, from_end=from_end))
    for axis in (0, -1):
        for size in sorted({tensor.shape[axis] for _, tensor in tensors if tensor.shape}, reverse=True):
            for smaller in sorted({1, 2, size // 2} - {0}):
                for from_end in (False, True):
                    yield on_tensors(instance, _shortener(axis, size, smaller, from_end=from_end))
    for place, tensor in tensors:
        for axis, dim in enumerate(tensor.shape):
            for smaller in _smaller(dim):
                for from_end in (False, True):
                    yield put(instance, place, shrunk(tensor, axis, smaller, from_end=from_end))
            if 2 < dim <= _FEW:
                for index in range(dim):
                    yield put(instance, place, without_slice(tensor, axis, index))


def _smaller(size: int, *more: int) -> list[int]:
    return [each for each in sorted({1, 2, *more, size // 2, size - 1}) if 0 < each < size]


class _Integers(enum.Enum):
    """Which integers change with a size: those that equal it, those that are larger than the new one as well, or none."""

    EQUAL = "equal"
    LARGER = "larger"
    NONE = "none"


def _resizer(size: int, smaller: int, integers: _Integers, *, from_end: bool) -> Callable[[Place, Value], Value]:
    first = size if integers is _Integers.EQUAL else smaller + 1

    def lower(array: Array) -> Array:
        return np.where((array >= first) & (array <= size), smaller, array)

    def resize(_: Place, value: Value) -> Value:
        if isinstance(value, Tensor):
            for axis, dim in enumerate(value.shape):
                if dim == size:
                    value = shrunk(value, axis, smaller, from_end=from_end)
            if integers is not _Integers.NONE and value.size <= _SMALL and value.dtype in ("int32", "int64"):
                value = edit(value, lower) or value
            return value
        if integers is not _Integers.NONE and type(value) is int and first <= value <= size:
            return smaller
        return value

    return resize


def _shortener(axis: int, size: int, smaller: int, *, from_end: bool) -> Callable[[Tensor], Tensor]:
    """Shortens the first or last dimension of all tensors in which it has one size, e.g. the size of a batch."""

    def shorten(tensor: Tensor) -> Tensor:
        if tensor.shape and tensor.shape[axis] == size > smaller:
            return shrunk(tensor, axis % len(tensor.shape), smaller, from_end=from_end)
        return tensor

    return shorten


def lower_ranks(instance: Instance) -> Iterator[Instance]:
    """Without the first or the last dimension: of all tensors that have most of them, of windows and pads as well, of each tensor alone."""
    tensors = tensors_of(instance)
    highest = max((len(tensor.shape) for _, tensor in tensors), default=0)
    for axis in (0, -1) if highest else ():
        for ranks in (range(1, highest + 1), (highest,)):
            lower = on_tensors(
                instance, lambda each, ranks=ranks, axis=axis: without_axis(each, axis) if len(each.shape) in ranks else each
            )
            yield lower
            yield from _with_parameters(lower, highest, axis)
    for place, tensor in tensors:
        for axis in dict.fromkeys((0, len(tensor.shape) - 1)):
            if tensor.shape:
                yield put(instance, place, without_axis(tensor, axis))


def _with_parameters(lower: Instance, highest: int, axis: int) -> Iterator[Instance]:
    """*lower* with what goes with a rank: axes one lower, and one entry less in sequences with an entry for every dimension that moves."""
    if axis == 0:
        yield edited(lower, lambda _, value: value - 1 if type(value) is int and value > 0 else value)
    for moving in (highest, highest - 1, highest - 2):
        if moving > 1:
            shorter = lower
            for place, value in places(lower):
                if isinstance(value, (list, tuple)) and not any(isinstance(item, (Tensor, list, tuple)) for item in value):
                    shorter = put(shorter, place, _one_less(value, moving, axis))
            if shorter != lower:
                yield shorter


def _one_less(sequence: list[Value] | tuple[Value, ...], moving: int, axis: int) -> Value:
    """*sequence* without its entry for the first or last of *moving* dimensions; of pads, which have two for each, without both."""
    if len(sequence) not in (moving, 2 * moving):
        return sequence
    first = 0 if axis == 0 else moving - 1
    return cast("Callable[[Iterable[Value]], Value]", type(sequence))(
        item for index, item in enumerate(sequence) if index % moving != first
    )


def contiguous(instance: Instance) -> Iterator[Instance]:
    """Every tensor contiguous; then one at a time."""
    yield on_tensors(instance, lambda tensor: replace(tensor, strides=None) if tensor.strides is not None else tensor)
    for place, tensor in tensors_of(instance):
        if tensor.strides is not None:
            yield put(instance, place, replace(tensor, strides=None))


# What a person would rather write: several elements that differ, one dimension or more.


def more_ordinary(instance: Instance) -> Iterator[Instance]:
    """Dimensions where there are none, elements where there are none or one, a second tensor in a sequence of one."""
    grown = [on_tensors(instance, each) for each in (_ranked, _filled, _larger, _longer)]
    grown.append(edited(instance, _longer_with_integers))
    for place, tensor in tensors_of(instance):
        grown.extend(put(instance, place, _grown(tensor, axis)) for axis in reversed(range(max(1, len(tensor.shape)))))
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
        yield on_tensors(instance, lambda tensor, start=start: _counting(tensor, next(start)))
    for place, tensor in tensors_of(instance):
        yield from (put(instance, place, _counting(tensor, first)) for first in (1, 2, 0))


def _counting(tensor: Tensor, first: int) -> Tensor:
    def change(array: Array) -> Array:
        numbers = np.arange(array.size) + first
        return numbers % 2 if array.dtype.kind == "b" else numbers.astype(np.float64)

    return edit(tensor, change) or tensor


def _grown(tensor: Tensor, axis: int) -> Tensor:
    """*tensor* with `_SIZE` slices along *axis* where it has none or one; with a dimension where it has none."""
    if not tensor.shape:
        return stretched(with_axis(tensor, 0), 0, _SIZE)
    return tensor if tensor.shape[axis] > 1 or tensor.size > _SMALL else stretched(tensor, axis, _SIZE)


def _ranked(tensor: Tensor) -> Tensor:
    return tensor if tensor.shape else _grown(tensor, 0)


def _filled(tensor: Tensor) -> Tensor:
    for axis, dim in enumerate(tensor.shape) if not tensor.size else ():
        tensor = tensor if dim else stretched(tensor, axis, _SIZE)
    return tensor


def _longer(tensor: Tensor) -> Tensor:
    """The last dimension of a tensor of one element."""
    return _grown(tensor, -1) if tensor.shape and tensor.size == 1 else tensor


def _larger(tensor: Tensor) -> Tensor:
    """The last two dimensions of a tensor of one element: a matrix of several rows."""
    for axis in range(max(0, len(tensor.shape) - 2), len(tensor.shape)) if tensor.size == 1 else ():
        tensor = stretched(tensor, axis, _SIZE)
    return tensor


def _longer_with_integers(_: Place, value: Value) -> Value:
    """As `_longer`, and 2 in place of every integer 1: sizes that parameters repeat."""
    if isinstance(value, Tensor):
        return _longer(value)
    return _SIZE if type(value) is int and value == 1 else value
