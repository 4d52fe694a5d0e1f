"""The conditions of filters: the elements of an output for which no specification fixes the result.

A condition gets one output, the inputs and the other outputs, and returns a mask of that output's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from opera.arrays import Array, as_array, dtype_name, is_array
from opera.instance import Kind
from opera.oracles.decompositions import is_decomposition
from opera.oracles.evidence import Evidence
from opera.oracles.integers import wraps
from opera.oracles.interpolation import fractional_length, half_pixel, to_the_nearest
from opera.oracles.precision import as_when_rounded, next_to_singular, overflows_on_the_way, past_range
from opera.oracles.tolerance import apart, tolerance_of

_WIDTH = 8
_COORDINATES = 2
_PAST_INT32 = 2.0**31
_LARGEST_BFLOAT16 = (2 - 2.0**-7) * 2.0**127
_ONNX_FLOAT = 1
_FEWER_BITS = 20
"""Numbers that need more bits than these, of the 24 of float32, were rounded to it."""
_LAST_PLACES = 0.01
"""Part of float32's tolerance that is a few units in the last place."""
"""The number of float32 in ONNX."""
_UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "complex64": 2.0**-24}
"""Largest relative error of one rounding."""


def _always(evidence: Evidence) -> Array:
    return evidence.everywhere(True)


def _given(evidence: Evidence) -> Array:
    return evidence.everywhere(evidence.input is not None)


def _integer_zero(evidence: Evidence) -> Array:
    divisor = evidence.input
    return evidence.nowhere() if divisor is None or divisor.dtype.kind not in "iub" else evidence.spread(divisor == 0)


def _least_by_minus_one(evidence: Evidence) -> Array:
    """Where the input, of signed integers, is -1 and the first input the least number of their type."""
    divisor, dividend = evidence.input, evidence.inputs[0] if evidence.inputs else None
    if divisor is None or not is_array(dividend) or divisor.dtype.kind != "i" or as_array(dividend).dtype.kind != "i":
        return evidence.nowhere()
    least = as_array(dividend) == np.iinfo(as_array(dividend).dtype).min
    return evidence.spread(divisor == -1) & evidence.spread(least)


def _index_out_of_range(evidence: Evidence, *, flat: bool = False) -> Array:
    """Everywhere, where an index is past either end of the axis of the first input that it counts along.

    With *flat*, an index counts along all elements of the input where no axis is given.
    """
    source, indices = evidence.inputs[0] if evidence.inputs else None, evidence.input
    if not is_array(source) or indices is None or indices.dtype.kind not in "iu" or not as_array(source).ndim:
        return evidence.nowhere()
    axis = next((each.value for each in evidence.instance.arguments() if each.name in ("axis", "dim") and type(each.value) is int), None)
    shape = (as_array(source).size,) if flat and axis is None else as_array(source).shape
    axis = axis or 0
    if not -len(shape) <= axis < len(shape):
        return evidence.nowhere()
    wide = indices.astype(np.float64)
    return evidence.everywhere(bool(((wide < -shape[axis]) | (wide >= shape[axis])).any()))


def _flat_index_out_of_range(evidence: Evidence) -> Array:
    return _index_out_of_range(evidence, flat=True)


def _from_nan(evidence: Evidence) -> Array:
    source = evidence.input
    if source is None or source.dtype.kind in "iubOSU" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread(np.isnan(source.astype(np.complex128)))


def _negative_exponent(evidence: Evidence) -> Array:
    exponent = evidence.input
    if exponent is None or exponent.dtype.kind != "i" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread(exponent < 0)


def _shift_past_width(evidence: Evidence) -> Array:
    bits = evidence.input
    if bits is None or bits.dtype.kind not in "iu" or evidence.expected.dtype.kind not in "iu":
        return evidence.nowhere()
    return evidence.spread((bits < 0) | (bits >= _WIDTH * evidence.expected.dtype.itemsize))


def _unrepresentable(evidence: Evidence) -> Array:
    source, target = evidence.input, evidence.expected.dtype
    if source is None or target.kind not in "iu" or source.dtype.kind in "iubOSU":
        return evidence.nowhere()
    limits = np.iinfo(target)
    with np.errstate(all="ignore"):
        wide = np.real(source).astype(np.float64)
        whole = np.trunc(wide)
        return evidence.spread(~((whole >= float(limits.min)) & (whole < float(limits.max) + 1.0)))


def _outside_value_range(evidence: Evidence) -> Array:
    """Where the input lies outside of the parameter `value_range`, 0 to 255 by default."""
    source = evidence.input
    ends = next((each.value for each in evidence.instance.arguments() if each.name == "value_range"), (0, 255))
    if source is None or source.dtype.kind not in "iuf" or not isinstance(ends, (tuple, list)):
        return evidence.nowhere()
    numbers = [float(end) for end in ends if isinstance(end, (int, float))]
    wide = source.astype(np.float64)
    return evidence.spread(~((wide >= min(numbers, default=-np.inf)) & (wide <= max(numbers, default=np.inf))))


def _sum_wraps(evidence: Evidence) -> Array:
    """Everywhere, where the input is of signed integers, and their type cannot hold the sum of their sizes."""
    source = evidence.input
    if source is None or source.dtype.kind != "i":
        return evidence.nowhere()
    return evidence.everywhere(float(np.abs(source.astype(np.float64)).sum()) > np.iinfo(source.dtype).max)


def _empty(evidence: Evidence) -> Array:
    """Everywhere, where the input has no elements."""
    return evidence.everywhere(evidence.input is not None and not evidence.input.size)


def _of_nothing(evidence: Evidence) -> Array:
    """Where the input is empty: a mean is NaN or zero; the least of all numbers is an infinity or the largest finite one of its sign."""
    pair = _real_pair(evidence)
    if evidence.input is None or evidence.input.size or pair is None:
        return evidence.nowhere()
    expected, actual, largest = pair
    return (np.isnan(expected) & (actual == 0)) | (np.isinf(expected) & (actual == np.copysign(largest, expected)))


def _end_of_range(evidence: Evidence) -> Array:
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
    name = dtype_name(expected.dtype)
    if actual is None or actual.dtype != expected.dtype or name not in ("float16", "bfloat16", "float32", "float64"):
        return None
    largest = _LARGEST_BFLOAT16 if name == "bfloat16" else float(np.finfo(expected.dtype).max)
    return expected.astype(np.float64), actual.astype(np.float64), largest


def _no_code(evidence: Evidence) -> Array:
    """Where the target format has no encoding for the value: NaN in 4 bits, zero and negative numbers as a power of two."""
    source, target = evidence.input, evidence.expected.dtype.name
    if source is None or source.dtype.kind in "OSU" or target not in ("float4_e2m1fn", "float8_e8m0fnu"):
        return evidence.nowhere()
    wide = source.astype(np.float64)
    return evidence.spread(np.isnan(wide) if target == "float4_e2m1fn" else wide <= 0)


def _seeded(evidence: Evidence) -> Array:
    """Where both give numbers, of a function that is called with a seed; what a layer draws is known from its runs with other seeds."""
    given = any(each.name == "seed" and each.value is not None for each in evidence.instance.call)
    if not given or evidence.instance.kind is not Kind.FUNCTION or evidence.actual is None or evidence.expected.dtype.kind in "OSU":
        return evidence.nowhere()
    return np.isfinite(evidence.expected) & np.isfinite(evidence.actual)


def _unsorted(evidence: Evidence) -> Array:
    """Everywhere, where the input does not ascend along its last axis."""
    source = evidence.input
    if source is None or source.dtype.kind not in "iuf" or not source.ndim:
        return evidence.nowhere()
    return evidence.everywhere(not bool((source[..., 1:] >= source[..., :-1]).all()))


def _subnormal(evidence: Evidence) -> Array:
    """Where an input is too small for a normal number of its dtype: processors may take it for zero."""
    found = evidence.nowhere()
    for array in evidence.arrays("fcV"):
        name = dtype_name(array.dtype)
        if name in ("float32", "float64", "complex64", "complex128", "bfloat16"):
            wide = array.astype(np.float32) if name == "bfloat16" else array  # their smallest normal numbers are the same
            size = np.abs(wide)
            found = found | evidence.spread((size > 0) & (size < np.finfo(wide.dtype).tiny))
    return found


def _input_nan(evidence: Evidence) -> Array:
    array = evidence.input
    if array is None or array.dtype.kind in "iubOSU":
        return evidence.nowhere()
    return evidence.everywhere(bool(np.isnan(array.astype(np.complex128)).any()))


def _chosen_beside_nan(evidence: Evidence) -> Array:
    """Where the input holds a NaN, and the compiler gives one, or a number of some input, or what is no floating-point number."""
    actual = evidence.actual
    if actual is None or actual.dtype.kind in "OSU" or not _input_nan(evidence).any():
        return evidence.nowhere()
    if actual.dtype.kind not in "fcV":
        return evidence.everywhere(True)
    numbers = np.concatenate([array.reshape(-1).astype(np.complex128) for array in evidence.arrays("fcV")])
    wide = actual.astype(np.complex128)
    return np.isnan(wide) | np.isin(wide, numbers)


def _nan_there(evidence: Evidence) -> Array:
    """Where an element of an input that belongs to this element of the output is no number."""
    found = evidence.nowhere()
    for array in evidence.arrays("fcV"):
        try:
            found = found | np.broadcast_to(np.isnan(array.astype(np.complex128)), found.shape)
        except ValueError:  # an input of another shape
            continue
    return found


def _library_nan(evidence: Evidence) -> Array:
    return np.isnan(evidence.expected) if evidence.expected.dtype.kind in "fc" else evidence.nowhere()


def _nan_for_zero(evidence: Evidence) -> Array:
    """Where the library gives zero, and the compiler NaN."""
    expected, actual = evidence.expected, evidence.actual
    if expected.dtype.kind not in "fc" or actual is None or actual.dtype.kind not in "fc":
        return evidence.nowhere()
    return (expected == 0) & np.isnan(actual)


def _same_elements(evidence: Evidence) -> Array:
    """Everywhere, where the outputs hold the same elements along some axis."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or expected.ndim == 0 or expected.dtype.kind == "O":
        return evidence.nowhere()
    return evidence.everywhere(
        any(
            bool(np.array_equal(np.sort(expected, axis=axis), np.sort(actual, axis=axis), equal_nan=expected.dtype.kind in "fc"))
            for axis in range(expected.ndim)
        )
    )


def _equal_scores(evidence: Evidence) -> Array:
    """Everywhere, where the outputs hold the same rows and the input has equal elements, which may come in any order."""
    scores, expected, actual = evidence.input, evidence.expected, evidence.actual
    if scores is None or actual is None or expected.ndim == 0 or np.unique(scores).size == scores.size:
        return evidence.nowhere()
    rows, others = (sorted(array.reshape(len(array), -1).tolist()) for array in (expected, actual))
    return evidence.everywhere(rows == others)


def _written_twice(evidence: Evidence) -> Array:
    """Where both give a value that was to be written, and the indices name some place more than once."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or not any(_repeats(array) for array in evidence.arrays("iu")):
        return evidence.nowhere()
    written = [array.astype(expected.dtype) for array in evidence.arrays(expected.dtype.kind)[1:]]
    if not written:
        return evidence.nowhere()
    values = np.concatenate([array.reshape(-1) for array in written])
    return np.isin(expected, values) & np.isin(actual, values)


def _repeats(indices: Array) -> bool:
    """Whether an index, or a row of indices, occurs twice."""
    if indices.ndim < 2:
        return indices.size > np.unique(indices).size
    rows = indices.reshape(-1, indices.shape[-1])
    sides = (rows, indices.reshape(indices.shape[0], -1).T, rows.T)
    return any(len(np.unique(side, axis=0)) < len(side) for side in sides[:1]) or any(
        np.unique(line).size < line.size for side in sides for line in side
    )


def _decomposition(evidence: Evidence) -> Array:
    """Everywhere in a matrix of factors, where the compiler's factors are a decomposition of the input as well."""
    source, results = evidence.input, evidence.results
    if source is None or results is None or evidence.expected.ndim < 2:
        return evidence.nowhere()
    return evidence.everywhere(is_decomposition(source, evidence.outputs, results))


def _branch_cut(evidence: Evidence) -> Array:
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


def _branch_point(evidence: Evidence) -> Array:
    """Where a complex input is zero, the library gives NaN, and the compiler a number."""
    source, actual = evidence.input, evidence.actual
    if source is None or actual is None or source.dtype.kind != "c" or evidence.expected.dtype.kind != "c":
        return evidence.nowhere()
    return evidence.spread(source == 0) & np.isnan(evidence.expected) & np.isfinite(actual)


def _accumulated(evidence: Evidence) -> Array:
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


def _computed_step(evidence: Evidence) -> Array:
    return evidence.crossed()


def _cut_off(evidence: Evidence) -> Array:
    """Where the compiler gives the end of its integers' range beyond which the input lies, divided by the second one, a scale.

    Only what no int32 can hold counts: so far, zero points and rounding do not matter.
    """
    actual, scales = evidence.actual, evidence.inputs[1] if len(evidence.inputs) > 1 else None
    if evidence.input is None or actual is None or actual.dtype.kind not in "iu" or not is_array(scales) or as_array(scales).size != 1:
        return evidence.nowhere()
    with np.errstate(all="ignore"):
        steps = evidence.input.astype(np.float64) / float(as_array(scales).astype(np.float64).reshape(()))
    limits = np.iinfo(actual.dtype)
    above, below = evidence.spread(steps >= _PAST_INT32), evidence.spread(steps <= -_PAST_INT32)
    return (above & (actual == limits.max)) | (below & (actual == limits.min))


def _by_column(evidence: Evidence) -> Array:
    """Where the compiler's index in an image `(n, c, *lengths)`, counted by columns, is the place of the library's value."""
    image, values, actual = evidence.inputs[0] if evidence.inputs else None, evidence.outputs[0], evidence.actual
    if not is_array(image) or not is_array(values) or actual is None or actual.dtype.kind not in "iu":
        return evidence.nowhere()
    source = as_array(image)
    columns = source.transpose(0, 1, *range(source.ndim - 1, 1, -1)).reshape(-1)
    if as_array(values).shape != actual.shape or not ((actual >= 0) & (actual < columns.size)).all():
        return evidence.nowhere()
    return columns[actual] == as_array(values)


def _in_single_precision(evidence: Evidence) -> Array:
    """Where two doubles agree as numbers of single precision, in which some operators of ONNX compute, by default or always."""
    tolerance, actual = tolerance_of("float32"), evidence.actual
    stash = next((each.value for each in evidence.instance.arguments() if each.name == "stash_type"), _ONNX_FLOAT)
    if tolerance is None or actual is None or actual.dtype != np.float64 or stash != _ONNX_FLOAT:
        return evidence.nowhere()
    return ~apart(evidence.expected, actual, tolerance)


def _of_single_precision(evidence: Evidence) -> Array:
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


CONDITIONS: Mapping[str, Callable[[Evidence], Array]] = {
    "always": _always,
    "given": _given,
    "integer-zero": _integer_zero,
    "least-by-minus-one": _least_by_minus_one,
    "index-out-of-range": _index_out_of_range,
    "flat-index-out-of-range": _flat_index_out_of_range,
    "from-nan": _from_nan,
    "negative-exponent": _negative_exponent,
    "shift-past-width": _shift_past_width,
    "unrepresentable": _unrepresentable,
    "outside-value-range": _outside_value_range,
    "wraps": wraps,
    "sum-wraps": _sum_wraps,
    "empty": _empty,
    "of-nothing": _of_nothing,
    "end-of-range": _end_of_range,
    "no-code": _no_code,
    "subnormal": _subnormal,
    "past-range": past_range,
    "overflows-on-the-way": overflows_on_the_way,
    "as-when-rounded": as_when_rounded,
    "next-to-singular": next_to_singular,
    "input-nan": _input_nan,
    "chosen-beside-nan": _chosen_beside_nan,
    "nan-there": _nan_there,
    "library-nan": _library_nan,
    "nan-for-zero": _nan_for_zero,
    "seeded": _seeded,
    "unsorted": _unsorted,
    "same-elements": _same_elements,
    "equal-scores": _equal_scores,
    "written-twice": _written_twice,
    "decomposition": _decomposition,
    "branch-cut": _branch_cut,
    "branch-point": _branch_point,
    "accumulated": _accumulated,
    "computed-step": _computed_step,
    "half-pixel": half_pixel,
    "fractional-length": fractional_length,
    "to-the-nearest": to_the_nearest,
    "cut-off": _cut_off,
    "by-column": _by_column,
    "in-single-precision": _in_single_precision,
    "of-single-precision": _of_single_precision,
}
OF_INPUTS = frozenset(
    {"integer-zero", "least-by-minus-one", "index-out-of-range", "negative-exponent", "shift-past-width", "unrepresentable"}
)
"""Conditions on the inputs alone, which may kill a process as well as give any result."""
