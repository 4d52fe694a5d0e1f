"""How far a compiler's outputs are from others: numbers for tables, which decide no verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypedDict

import numpy as np

from opera.arrays import Array, ModelValue, Outputs, as_array, is_array
from opera.oracles.verdict import Number

NONE = "NONE"
NAN_IN_BASELINE = "NAN_IN_BASELINE"
NAN_IN_OUTPUT = "NAN_IN_OUTPUT"
NOT_COMPARABLE_SHAPE = "NOT_COMPARABLE_SHAPE"
NOT_COMPARABLE_EMPTY = "NOT_COMPARABLE_EMPTY"


class MetricFacts(TypedDict):
    """How far two results are from each other.

    Attributes:
        max_abs, mean_abs, mse: Distances; one that is not finite is text. None where no elements can be subtracted.
        code: `NONE`, or why a distance is missing or says little: one of the names above.
        elements: Number of elements of the baseline; None where the outputs cannot be subtracted.
        nan_baseline, nan_output: How many of them are NaN.
    """

    max_abs: Number
    mean_abs: Number
    mse: Number
    code: str
    elements: int | None
    nan_baseline: int | None
    nan_output: int | None


def metrics(expected: Outputs, actual: Outputs) -> MetricFacts:
    """Measures the differences over all elements of all outputs, and counts the elements that are NaN.

    Distances leave out elements that are NaN on both sides; they are None where no element is left. The same infinity on both sides counts
    as 0. Where the outputs differ in number, shape or kind, or hold text, only the code is given. A distance that is not finite is text.
    """
    if len(expected) != len(actual):
        return _without_distance(NOT_COMPARABLE_SHAPE)
    parts: list[tuple[Array, Array]] = []
    for one, other in zip(expected, actual, strict=True):
        for each in _pairs(one, other):
            if each is None:
                return _without_distance(NOT_COMPARABLE_SHAPE)
            parts.append(each)
    if not any(left.size for left, _ in parts):
        return _without_distance(NOT_COMPARABLE_EMPTY, elements=0, nan_baseline=0, nan_output=0)
    nans = [(np.isnan(left), np.isnan(right)) for left, right in parts]
    nan_baseline, nan_output = (sum(int(each[side].sum()) for each in nans) for side in (0, 1))
    code = NAN_IN_BASELINE if nan_baseline else NAN_IN_OUTPUT if nan_output else NONE
    elements = sum(left.size for left, _ in parts)
    found = [_difference(*pair, one & other) for pair, (one, other) in zip(parts, nans, strict=True)]
    count = sum(each.size for each in found)
    if not count:
        return _without_distance(code, elements=elements, nan_baseline=nan_baseline, nan_output=nan_output)
    with np.errstate(all="ignore"):
        largest = float(np.max([each.max() for each in found if each.size]))
        total = sum(float(each.sum()) for each in found)
        squares = sum(float(np.square(each).sum()) for each in found)
    return {
        "max_abs": _number(largest),
        "mean_abs": _number(total / count),
        "mse": _number(squares / count),
        "code": code,
        "elements": elements,
        "nan_baseline": nan_baseline,
        "nan_output": nan_output,
    }


def all_nan(facts: MetricFacts) -> bool:
    """Whether every element is NaN on both sides, so that no distance exists."""
    return bool(facts["elements"]) and facts["elements"] == facts["nan_baseline"] == facts["nan_output"]


def _without_distance(
    code: str, *, elements: int | None = None, nan_baseline: int | None = None, nan_output: int | None = None
) -> MetricFacts:
    return {
        "max_abs": None,
        "mean_abs": None,
        "mse": None,
        "code": code,
        "elements": elements,
        "nan_baseline": nan_baseline,
        "nan_output": nan_output,
    }


def _pairs(one: ModelValue, other: ModelValue) -> Iterator[tuple[Array, Array] | None]:
    """The arrays of two outputs as floating-point numbers; None where they cannot be subtracted."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)) and len(one) == len(other):
        for left, right in zip(one, other, strict=True):
            yield from _pairs(left, right)
        return
    if one is None and other is None:
        return
    if not is_array(one) or not is_array(other):
        yield None
        return
    yield _widened(as_array(one), as_array(other))


def _widened(one: Array, other: Array) -> tuple[Array, Array] | None:
    if one.dtype.kind == "c" and other.dtype.kind == "f" and other.shape == (*one.shape, 2):
        other = other[..., 0] + 1j * other[..., 1]
    if one.shape != other.shape or "O" in (one.dtype.kind, other.dtype.kind):
        return None
    wide = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        return one.astype(wide), other.astype(wide)


def _difference(left: Array, right: Array, left_out: Array) -> Array:
    """The absolute differences, without the elements of the mask *left_out*."""
    with np.errstate(all="ignore"):
        return np.where(left == right, 0.0, np.abs(left - right))[~left_out]


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
