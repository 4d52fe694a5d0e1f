"""How far a value is from the true one."""

from __future__ import annotations

from typing import Any

import numpy as np

from opera.arrays import Array, as_array, is_array

MOST_NOISE = 1.0
"""Where rounding moves a value by more, it is no result: the true value itself is unknown."""


def error_of(expected: Any, actual: Any) -> float:
    """Largest error of a value, relative to the largest finite element of the true value.

    It is infinite if shape or dtype differ, or if NaN and infinities are at other places.
    """
    if not is_array(expected) or not is_array(actual):
        return 0.0 if expected is None and actual is None else np.inf
    one, other = as_array(expected), as_array(actual)
    if one.shape != other.shape or one.dtype != other.dtype:
        return np.inf
    if one.dtype.kind in "bOSU":
        return 0.0 if bool((one == other).all()) else np.inf
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    true, given = one.astype(wide).reshape(-1), other.astype(wide).reshape(-1)
    finite: Array = np.isfinite(true)
    if not bool((finite == np.isfinite(given)).all()) or not _same_beyond(true[~finite], given[~finite]):
        return np.inf
    if not bool(finite.any()):
        return 0.0
    size = float(np.abs(true[finite]).max())
    error = float(np.abs(true[finite] - given[finite]).max())
    if not error and one.dtype.kind in "iu" and bool((one != other).any()):
        return float(np.finfo(np.float64).eps)  # integers that float64 does not tell apart
    return error / size if size else (0.0 if not error else np.inf)


def _same_beyond(one: Array, other: Array) -> bool:
    """Whether infinities are the same, and NaN is where NaN is."""
    return bool(((one == other) | (np.isnan(one) & np.isnan(other))).all())
