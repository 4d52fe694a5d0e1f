"""Indices are compared by what they select: where several elements are equal, an operator may name any of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from opera.arrays import Array

_LARGEST = 1 << 20


def select_the_same(expected: Array, actual: Array, inputs: Iterable[Array]) -> bool:
    """Whether two arrays of indices pick equal elements, along one axis of one of the inputs.

    The indices must be in range, and where the expected ones are distinct along that axis (a sorting, the k largest), so must the
    actual ones: an operator that repeats an element has not chosen among equals.

    Args:
        expected: The library's integer output, of the shape of an input but for one axis, or with that axis left out.
        actual: The compiler's, of the same shape.
        inputs: Candidates for what the indices point into.
    """
    if expected.dtype.kind not in "iu" or actual.dtype.kind not in "iu" or expected.size == 0:
        return False
    return any(
        _along(expected, actual, array, axis)
        for array in inputs
        if array.dtype.kind in "fiub" and 0 < array.size <= _LARGEST
        for axis in range(array.ndim)
    )


def _along(expected: Array, actual: Array, array: Array, axis: int) -> bool:
    if expected.ndim == array.ndim - 1:
        expected, actual = np.expand_dims(expected, axis), np.expand_dims(actual, axis)
    shape = list(array.shape)
    if expected.ndim != array.ndim or [*shape[:axis], *shape[axis + 1 :]] != [*expected.shape[:axis], *expected.shape[axis + 1 :]]:
        return False
    length = shape[axis]
    one, other = (_normalised(indices, length) for indices in (expected, actual))
    if one is None or other is None:
        return False
    picked, chosen = (np.take_along_axis(array, indices, axis) for indices in (one, other))
    same = (picked == chosen) | ((picked != picked) & (chosen != chosen))
    return bool(same.all()) and (_distinct(other, axis) or not _distinct(one, axis))


def _normalised(indices: Array, length: int) -> Array | None:
    signed = indices.astype(np.int64)
    if bool((signed < -length).any() or (signed >= length).any()):
        return None
    return np.where(signed < 0, signed + length, signed)


def _distinct(indices: Array, axis: int) -> bool:
    ordered = np.sort(indices, axis=axis)
    return not bool((np.diff(ordered, axis=axis) == 0).any())
