"""Results that differ by rounding: sums, steps, branch cuts, subnormal numbers, the ends of ranges, single precision inside."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from opera.arrays import Array, dtype_name
from opera.oracles.evidence import Evidence
from opera.oracles.filters.rows import excuses
from opera.oracles.tolerance import apart, tolerance_of

_COORDINATES = 2
_ONNX_FLOAT = 1
"""The number of float32 in ONNX."""
_FEWER_BITS = 20
"""Numbers that need more bits than these, of the 24 of float32, were rounded to it."""
_LAST_PLACES = 0.01
"""Part of float32's tolerance that is a few units in the last place."""
_UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "complex64": 2.0**-24}
"""Largest relative error of one rounding."""


@excuses(
    "reduction-of-nothing",
    r"(reduce_?|global_?)?(mean|max|min|average|average_?pool\w*)|moments|"
    r"mean_\w+_error|binary_\w*cross_?entropy|\w*hinge|huber|log_?cosh|poisson",
    libraries=("keras", "tensorflow"),
    why=(
        "no documentation defines the mean or the largest element of an empty input: the mean is NaN or zero, and the "
        "largest element is an infinity or the largest finite number"
    ),
)
def of_nothing(evidence: Evidence) -> Array:
    """Where the input is empty: a mean is NaN or zero; the least of all numbers is an infinity or the largest finite one of its sign."""
    pair = _real_pair(evidence)
    if evidence.input is None or evidence.input.size or pair is None:
        return evidence.nowhere()
    expected, actual, largest = pair
    return (np.isnan(expected) & (actual == 0)) | (np.isinf(expected) & (actual == np.copysign(largest, expected)))


@excuses(
    "end-of-range",
    r"\w+",
    why="near the largest number, an error in the last digits gives an infinity",
)
def end_of_range(evidence: Evidence) -> Array:
    """Where the compiler gives infinity, and the library a number within a hundredth of the largest one of that sign."""
    pair = _real_pair(evidence)
    if pair is None:
        return evidence.nowhere()
    expected, actual, largest = pair
    large = np.isfinite(expected) & (np.abs(expected) > 0.99 * largest)
    return large & np.isinf(actual) & (np.sign(expected) == np.sign(actual))


def _real_pair(evidence: Evidence) -> tuple[Array, Array, float] | None:
    """The library's and the compiler's real numbers as doubles, and the largest of their dtype; None where they are of none, or of two."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or actual.dtype != expected.dtype or dtype_name(expected.dtype) not in ("float16", "bfloat16", "float32", "float64"):
        return None
    finfo: Any = ml_dtypes.finfo
    return expected.astype(np.float64), actual.astype(np.float64), float(finfo(expected.dtype).max)


@excuses(
    "subnormal-input",
    r"\w+",
    why="processors and compilers may treat numbers below the smallest normal number as zero, and so may every library",
)
def subnormal(evidence: Evidence) -> Array:
    """Where an input is too small for a normal number of its dtype: processors may take it for zero."""
    found = evidence.nowhere()
    for array in evidence.arrays("fcV"):
        name = dtype_name(array.dtype)
        if name in ("float32", "float64", "complex64", "complex128", "bfloat16"):
            wide = array.astype(np.float32) if name == "bfloat16" else array  # their smallest normal numbers are the same
            size = np.abs(wide)
            found = found | evidence.spread((size > 0) & (size < np.finfo(wide.dtype).tiny))
    return found


@excuses(
    "branch-cut",
    r"r?sqrt|log\w*|pow\w*|a(rc)?(cos|sin|tan)h?|angle|arctan2|atan2",
    why="on the real axis the sign of a zero decides the side of the branch cut, and few compilers keep it",
)
def branch_cut(evidence: Evidence) -> Array:
    """Where an input lies on the real axis, and the results lie on the two sides of a cut along it.

    That is a complex number without an imaginary part, or the first of two real inputs, which stands for one, where it is zero. Where both
    are, their signs alone decide which number it is.
    """
    source, expected, actual = evidence.input, evidence.expected, evidence.actual
    if source is None or actual is None or source.dtype.kind not in "fc" or source.shape != expected.shape:
        return evidence.nowhere()
    if expected.dtype.kind not in "fc":
        return evidence.nowhere()
    mirrored = np.conj(expected) if expected.dtype.kind == "c" else -expected
    with np.errstate(all="ignore"):
        mirror = np.isclose(actual, mirrored, 1e-3, 1e-4)
    if source.dtype.kind == "c":
        return (np.imag(source) == 0) & mirror
    pair = evidence.arrays("f")
    if len(pair) < _COORDINATES:
        return evidence.nowhere()
    return (source == 0) & (mirror | (evidence.spread(pair[1] == 0) & np.isfinite(actual)))


@excuses(
    "branch-cut",
    r"_*(pow|power)_*",
    why=(
        "complex powers are defined by the logarithm, and zero is a branch point of the logarithm: the result is NaN or the "
        "limit along an axis"
    ),
)
def branch_point(evidence: Evidence) -> Array:
    """Where a complex input is zero, the library gives NaN, and the compiler a number."""
    source, actual = evidence.input, evidence.actual
    if source is None or actual is None or source.dtype.kind != "c" or evidence.expected.dtype.kind != "c":
        return evidence.nowhere()
    return evidence.spread(source == 0) & np.isnan(evidence.expected) & np.isfinite(actual)


@excuses(
    "order-of-summation",
    r"(nan)?(sum|mean)|reduce_?(sum|mean|l1|l2)|vector_norm|norm|global_?average_?pool|trace",
    why="an implementation may add up in the dtype itself, with one rounding error for each number",
)
def accumulated(evidence: Evidence) -> Array:
    """Where one rounding error of the dtype for each number that is added up explains the distance."""
    expected, actual = evidence.expected, evidence.actual
    floats = evidence.arrays("fc") or [array for array in evidence.arrays("V") if dtype_name(array.dtype) == "bfloat16"]
    if actual is None or not floats or expected.size == 0 or dtype_name(expected.dtype) not in _UNIT:
        return evidence.nowhere()
    source = np.abs(floats[0].astype(np.complex128))
    terms = max(1.0, source.size / expected.size)
    with np.errstate(all="ignore"):
        distance = np.abs(actual.astype(np.complex128) - expected.astype(np.complex128))
        scale = float(source.sum()) / expected.size
        return np.isfinite(distance) & (
            distance <= terms * _UNIT[dtype_name(expected.dtype)] * np.maximum(np.abs(expected.astype(np.complex128)), scale)
        )


@excuses(
    "ill-conditioned",
    r"dynamic_?quantize_?linear|fake_quant\w*|quantize_per_tensor_dynamic|compute_quantization_parameters|abs_max_quantize",
    why="the step of quantisation is itself the result of a division, so no input lies exactly on a step",
)
def computed_step(evidence: Evidence) -> Array:
    return evidence.crossed()


@excuses(
    "precision-policy",
    r"(blackman|hamming|hann)_?window",
    libraries=("onnx",),
    why="the function that defines the operator computes with constants of float32, and casts its result",
)
@excuses(
    "precision-policy",
    r"(layer|group|rms)_?normalization",
    libraries=("onnx",),
    why="by default, the attribute `stash_type` asks for the first stage in float32, whatever the dtype of the input",
)
def in_single_precision(evidence: Evidence) -> Array:
    """Where two doubles agree as numbers of single precision, in which some operators of ONNX compute, by default or always."""
    tolerance, actual = tolerance_of("float32"), evidence.actual
    stash = next((each.value for each in evidence.instance.arguments() if each.name == "stash_type"), _ONNX_FLOAT)
    if tolerance is None or actual is None or actual.dtype != np.float64 or stash != _ONNX_FLOAT:
        return evidence.nowhere()
    return ~apart(evidence.expected, actual, tolerance)


@excuses(
    "precision-policy",
    r"\w+",
    why=(
        "some functions of libraries compute in float32 and give the result as float64, e.g. Keras' normalisations under a "
        "policy of float64"
    ),
)
def of_single_precision(evidence: Evidence) -> Array:
    """Where two doubles differ by a few units in the last place of float32, in which the library computed them, whatever dtype it gives.

    It did so if all of its numbers are numbers of float32, and not because they need few bits, as whole numbers and halves do.
    """
    tolerance, actual, expected = tolerance_of("float32"), evidence.actual, evidence.expected
    if tolerance is None or actual is None or expected.dtype != np.float64 or actual.dtype != np.float64:
        return evidence.nowhere()
    numbers = expected[np.isfinite(expected)]
    with np.errstate(over="ignore"):
        held = numbers == numbers.astype(np.float32)
    shifted = np.ldexp(np.frexp(numbers)[0], _FEWER_BITS)
    if not held.all() or (shifted == np.floor(shifted)).all():
        return evidence.nowhere()
    return ~apart(expected, actual, tolerance, _LAST_PLACES)
