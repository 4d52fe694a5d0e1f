"""Conditions on how much a compiler can know of its inputs: the range of the dtype that it computes in, and its rounding error."""

from __future__ import annotations

import numpy as np

from opera.models.arrays import Array, dtype_name, numpy_dtype
from opera.oracles.evidence import Evidence

_MATRIX = 2
_NEXT_TO_THE_END = 0.99


def past_range(evidence: Evidence) -> Array:
    """Where the dtype that the compiler declares to compute in takes an input for zero or infinity, or has no such result.

    What is too small for a normal number of that dtype counts as zero. A result counts where the compiler gives that dtype's largest number
    or infinity, of the same sign. An input that does not belong to one element of the output counts everywhere: where it holds a number
    that is too large, or nothing but zeros and numbers that are too small.
    """
    expected, actual, found = evidence.expected, evidence.actual, evidence.nowhere()
    for array in evidence.arrays("f"):
        limits = _limits(evidence, array)
        if limits is None:
            continue
        size = np.abs(array)
        large, small = np.isfinite(array) & (size > float(limits.max)), (size > 0) & (size < float(limits.tiny))
        try:
            found = found | np.broadcast_to(large | small, found.shape)
        except ValueError:  # an input of another shape
            found = found | bool(large.any() or (small.any() and (small | (array == 0)).all()))
    limits = _limits(evidence, expected)
    if limits is not None and actual is not None and actual.dtype.kind == "f":
        largest = float(limits.max)
        beyond = np.isfinite(expected) & (np.abs(expected) > largest)
        found = found | (beyond & (np.abs(actual) >= _NEXT_TO_THE_END * largest) & (np.sign(actual) == np.sign(expected)))
    return found


def same_when_rounded(evidence: Evidence) -> Array:
    """Where two inputs differ that are compared, and are the same number of the dtype that the compiler declares to compute in."""
    pair = [array for array in evidence.arrays("f") if _limits(evidence, array) is not None]
    if evidence.expected.dtype.kind != "b" or len(pair) != len(("one", "other")):
        return evidence.nowhere()
    with np.errstate(all="ignore"):
        one, other = (array.astype(_computed(evidence, array)) for array in pair)
    try:
        return np.broadcast_to((one == other) & (pair[0] != pair[1]), evidence.expected.shape)
    except ValueError:  # not compared element by element
        return evidence.nowhere()


def next_to_singular(evidence: Evidence) -> Array:
    """Where a rounding error of the input, matrices `(..., n, n)`, reaches a singular one: its condition number is 1/epsilon or more."""
    source = evidence.input
    if source is None or source.ndim < _MATRIX or source.shape[-1] != source.shape[-2] or source.size == 0 or source.dtype.kind not in "fc":
        return evidence.nowhere()
    finite: Array = np.asarray(np.isfinite(source).all(axis=(-1, -2)))
    values = np.linalg.svd(np.where(finite[..., None, None], source, 0).astype(np.complex128), compute_uv=False)
    epsilon = float(np.finfo(_computed(evidence, source)).eps)
    singular: Array = np.asarray(finite & (values[..., -1] <= epsilon * values[..., 0]))
    return evidence.spread(singular.reshape(singular.shape + (1,) * max(0, evidence.expected.ndim - singular.ndim)))


def _computed(evidence: Evidence, array: Array) -> np.dtype[np.floating]:
    """The dtype in which the compiler computes what is given as *array*."""
    name = dtype_name(array.dtype)
    return numpy_dtype(evidence.computes_as.get(name, name))


def _limits(evidence: Evidence, array: Array) -> np.finfo[np.floating] | None:
    """The range of the dtype that the compiler declares to compute *array* as; None where it declares none."""
    if array.dtype.kind != "f" or dtype_name(array.dtype) not in evidence.computes_as:
        return None
    computed = _computed(evidence, array)
    return np.finfo(computed) if computed.kind == "f" else None
