"""Smaller dimensions, lower ranks and plain strides: equal sizes of several tensors and parameters change together."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from opera.arrays import Array
from opera.instance import Instance, Tensor
from opera.instance.values import Value
from opera.triage.reduction.places import Place, edit, edited, places, put, shrunk, without_axis, without_slice

_FEW = 8
"""Slices of a dimension that are left out one by one."""
_SMALL = 16
"""Elements of an integer tensor whose values may be sizes."""


def smaller_dimensions(instance: Instance) -> Iterator[Instance]:
    """One size replaced everywhere at once, in shapes and in integers that equal it; then single dimensions of single tensors."""
    tensors = _tensors(instance)
    sizes = sorted({dim for _, tensor in tensors for dim in tensor.shape if dim > 1}, reverse=True)
    for size in sizes:
        for smaller in sorted({1, 2, 3, size // 2, size - 1}):
            if 0 < smaller < size:
                for from_end in (False, True):
                    for what in _Integers:
                        yield edited(instance, _resizer(size, smaller, what, from_end=from_end))
    for axis in (0, -1):
        for size in sorted({tensor.shape[axis] for _, tensor in tensors if tensor.shape}, reverse=True):
            for smaller in sorted({1, 2, size // 2} - {0}):
                for from_end in (False, True):
                    yield edited(instance, _shortener(axis, size, smaller, from_end=from_end))
    for place, tensor in tensors:
        for axis, dim in enumerate(tensor.shape):
            for smaller in sorted({1, 2, dim // 2, dim - 1}):
                if 0 < smaller < dim:
                    yield put(instance, place, shrunk(tensor, axis, smaller))
                    yield put(instance, place, shrunk(tensor, axis, smaller, from_end=True))
            if 2 < dim <= _FEW:
                for index in range(dim):
                    yield put(instance, place, without_slice(tensor, axis, index))


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


def _shortener(axis: int, size: int, smaller: int, *, from_end: bool) -> Callable[[Place, Value], Value]:
    """Shortens the first or last dimension of all tensors in which it has one size, e.g. the size of a batch."""

    def shorten(_: Place, value: Value) -> Value:
        if isinstance(value, Tensor) and value.shape and value.shape[axis] == size > smaller:
            return shrunk(value, axis % len(value.shape), smaller, from_end=from_end)
        return value

    return shorten


def lower_ranks(instance: Instance) -> Iterator[Instance]:
    """Without the first or the last dimension: of all tensors that have most of them, of windows and pads as well, of each tensor alone."""
    tensors = _tensors(instance)
    highest = max((len(tensor.shape) for _, tensor in tensors), default=0)
    if highest:
        for axis in (0, -1):
            for rank in (None, highest):
                lower = edited(instance, _dropper(axis, rank))
                yield lower
                yield from _with_parameters(lower, highest, axis)
    for place, tensor in tensors:
        for axis in dict.fromkeys((0, len(tensor.shape) - 1)):
            if tensor.shape:
                yield put(instance, place, without_axis(tensor, axis))


def _dropper(axis: int, rank: int | None) -> Callable[[Place, Value], Value]:
    def drop(_: Place, value: Value) -> Value:
        if isinstance(value, Tensor) and value.shape and rank in (None, len(value.shape)):
            return without_axis(value, axis % len(value.shape))
        return value

    return drop


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
    first = 0 if axis == 0 else moving - 1
    kind = cast("Callable[[Iterable[Value]], Value]", type(sequence))
    if len(sequence) == moving:
        return kind(item for place, item in enumerate(sequence) if place != first)
    if len(sequence) == 2 * moving:
        return kind(item for place, item in enumerate(sequence) if place % moving != first)
    return sequence


def contiguous(instance: Instance) -> Iterator[Instance]:
    """Every tensor contiguous; then one at a time."""

    def plain(_: Place, value: Value) -> Value:
        return replace(value, strides=None) if isinstance(value, Tensor) and value.strides is not None else value

    yield edited(instance, plain)
    for place, tensor in _tensors(instance):
        if tensor.strides is not None:
            yield put(instance, place, replace(tensor, strides=None))


def _tensors(instance: Instance) -> list[tuple[Place, Tensor]]:
    return [(place, value) for place, value in places(instance) if isinstance(value, Tensor)]
