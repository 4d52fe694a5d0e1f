"""Conditions on the dtype in which a compiler computes: its range, and its rounding error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from opera.arrays import Array, dtype_name, numpy_dtype
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses
from opera.oracles.tolerance import apart, tolerance_of

_MATRIX = 2
_NEXT_TO_THE_END = 0.99
_ROUNDED = 1e-6
"""How far from one the quotient of two largest numbers may be: some compilers multiply by the reciprocal."""
_NEXT_TO_INFINITE = 0.1
"""Condition numbers from this part of 1/epsilon on are infinite but for rounding errors."""


@excuses(
    "precision-policy",
    r"\w+",
    why=(
        "the compiler declares to compute this dtype as a narrower one, in which numbers outside its range become zero, the "
        "largest number or an infinity"
    ),
)
def past_range(evidence: Evidence) -> Array:
    """Where the dtype that the compiler declares to compute in takes an input for zero or infinity, or has no such result.

    What is too small for a normal number of that dtype counts as zero. A result counts where the compiler gives that dtype's largest number
    or infinity, of the same sign. An input counts where the compiler gives what comes of zeros and infinities. One that does not belong to
    one element of the output counts everywhere: where it holds a number that is too large, or nothing but zeros and numbers that are too
    small.
    """
    expected, actual, found = evidence.expected, evidence.actual, evidence.nowhere()
    if actual is None:
        return found
    telling = _comes_of_an_end(expected, actual)
    for array in evidence.arrays("f"):
        limits = _limits(evidence, array)
        if limits is None:
            continue
        size = np.abs(array)
        large, small = np.isfinite(array) & (size > float(limits.max)), (size > 0) & (size < float(limits.tiny))
        try:
            found = found | (telling & np.broadcast_to(large | small, found.shape))
        except ValueError:  # an input of another shape
            found = found | (telling & bool(large.any() or (small.any() and (small | (array == 0)).all())))
    limits = _limits(evidence, expected)
    if limits is not None and actual.dtype.kind == "f":
        largest = float(limits.max)
        beyond = np.isfinite(expected) & (np.abs(expected) > largest)
        found = found | (beyond & (np.abs(actual) >= _NEXT_TO_THE_END * largest) & (np.sign(actual) == np.sign(expected)))
    return found


@excuses(
    "overflow-on-the-way",
    r"cum_?(sum|prod)",
    why=("an intermediate result beyond the range of the dtype may be lost: no documentation says whether it is kept in a wider dtype"),
)
def overflows_on_the_way(evidence: Evidence) -> Array:
    """Where only the compiler gives no finite number, but the library gives no finite number elsewhere along an axis."""
    expected, actual = evidence.expected, evidence.actual
    finite = all(bool(np.isfinite(array).all()) for array in evidence.arrays("f"))
    if actual is None or not finite or expected.dtype.kind != "f" or actual.dtype.kind != "f":
        return evidence.nowhere()
    past, found = ~np.isfinite(expected), evidence.nowhere()
    for axis in range(expected.ndim):
        found = found | past.any(axis=axis, keepdims=True)
    return found & ~past & ~np.isfinite(actual)


def _comes_of_an_end(expected: Array, actual: Array) -> Array:
    """Where zeros, infinities and largest numbers may explain a result: it is one of these, NaN or 1, or any truth value."""
    if actual.shape != expected.shape or actual.dtype.kind not in "fiub":
        return np.zeros(expected.shape, dtype=bool)
    if actual.dtype.kind == "b":
        return np.ones(expected.shape, dtype=bool)
    if actual.dtype.kind == "f":
        largest = min(float(np.finfo(actual.dtype).max), float(np.finfo(np.float32).max))
        return (actual == 0) | (np.abs(actual - 1) <= _ROUNDED) | ~np.isfinite(actual) | (np.abs(actual) >= _NEXT_TO_THE_END * largest)
    limits = np.iinfo(actual.dtype)
    return (actual == 0) | (actual == limits.min) | (actual == limits.max)


@excuses(
    "precision-policy",
    r"\w+",
    why=(
        "the compiler declares to compute this dtype as a narrower one, and the library gives the same result for inputs "
        "that are rounded to it"
    ),
)
def as_when_rounded(evidence: Evidence) -> Array:
    """Where the compiler gives what the library does, of inputs rounded to the dtype that the compiler declares to compute in."""
    actual = evidence.actual
    if actual is None or all(_limits(evidence, array) is None for array in evidence.arrays("f")):
        return evidence.nowhere()
    rounded = evidence.rounded()
    if rounded is None or rounded.dtype.kind not in "fciub":
        return evidence.nowhere()
    name = dtype_name(actual.dtype)
    tolerance = tolerance_of(evidence.computes_as.get(name, name))
    return np.asarray(rounded == actual) if tolerance is None else ~apart(rounded, actual, replace(tolerance, of_largest=0.0))


@excuses(
    "ill-conditioned",
    r"(batch_?)?(linalg_)?(matrix_?)?(inv|inverse|solve|cond)(_ex)?",
    input=0,
    why=(
        "a matrix whose condition number, without scales, is at least 1/epsilon differs from a singular matrix by a rounding "
        "error only, so every inverse and every solution is acceptable"
    ),
)
def next_to_singular(evidence: Evidence) -> Array:
    """Where a rounding error of the input, matrices `(..., n, n)`, reaches a singular one.

    That is where its condition number is 1/epsilon or more, its rows and columns scaled alike. A condition number itself has to be large.
    """
    source, expected, actual = evidence.input, evidence.expected, evidence.actual
    if source is None or source.ndim < _MATRIX or source.shape[-1] != source.shape[-2] or source.size == 0 or source.dtype.kind not in "fc":
        return evidence.nowhere()
    if actual is None or expected.dtype.kind not in "fc":
        return evidence.nowhere()
    finite: Array = np.asarray(np.isfinite(source).all(axis=(-1, -2)))
    values = np.linalg.svd(_equilibrated(np.where(finite[..., None, None], source, 0).astype(np.complex128)), compute_uv=False)
    epsilon = float(np.finfo(_computed(evidence, source)).eps)
    singular: Array = np.asarray(finite & (values[..., -1] <= epsilon * values[..., 0]))
    found = evidence.spread(singular.reshape(singular.shape + (1,) * max(0, expected.ndim - singular.ndim)))
    if "cond" not in evidence.instance.operator.lower():
        return found
    with np.errstate(all="ignore"):
        return found & ~(np.abs(actual) < _NEXT_TO_INFINITE / epsilon)


def _equilibrated(matrices: Array) -> Array:
    """The matrices with their rows, and then their columns, divided by the largest element: scales cost no precision."""
    for axis in (-1, -2):
        largest = np.abs(matrices).max(axis=axis, keepdims=True)
        matrices = matrices / np.where(largest == 0, 1, largest)
    return matrices


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
