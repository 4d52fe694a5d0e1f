"""How far a compiler's outputs are from others: numbers for tables, which decide no verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from opera.arrays import Array, ModelValue, Outputs, as_array, is_array
from opera.oracles.verdict import MetricFacts


def metrics(expected: Outputs, actual: Outputs) -> MetricFacts:
    """The largest and the mean absolute difference and the mean squared difference, over all elements of all outputs.

    Elements that are equal, NaN on both sides, or the same infinity count as 0. All are None where the outputs differ in number, shape or
    kind, or hold text; a number that is not finite is written as text.
    """
    if len(expected) != len(actual):
        return _NONE
    parts: list[Array] = []
    for one, other in zip(expected, actual, strict=True):
        for each in _differences(one, other):
            if each is None:
                return _NONE
            parts.append(each)
    count = sum(each.size for each in parts)
    if not count:
        return {"max_abs": 0.0, "mean_abs": 0.0, "mse": 0.0}
    with np.errstate(all="ignore"):
        largest = max(float(each.max()) for each in parts if each.size)
        total = sum(float(each.sum()) for each in parts)
        squares = sum(float(np.square(each).sum()) for each in parts)
    return {"max_abs": _number(largest), "mean_abs": _number(total / count), "mse": _number(squares / count)}


_NONE: MetricFacts = {"max_abs": None, "mean_abs": None, "mse": None}


def _differences(one: ModelValue, other: ModelValue) -> Iterator[Array | None]:
    """The absolute differences of two outputs; None where they cannot be subtracted."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from _differences(left, right)
        return
    if one is None and other is None:
        return
    if not is_array(one) or not is_array(other):
        yield None
        return
    yield _subtracted(as_array(one), as_array(other))


def _subtracted(one: Array, other: Array) -> Array | None:
    if one.dtype.kind == "c" and other.dtype.kind == "f" and other.shape == (*one.shape, 2):
        other = other[..., 0] + 1j * other[..., 1]
    if one.shape != other.shape or "O" in (one.dtype.kind, other.dtype.kind):
        return None
    wide = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        left, right = one.astype(wide), other.astype(wide)
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        return np.where(same, 0.0, np.abs(left - right))


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
