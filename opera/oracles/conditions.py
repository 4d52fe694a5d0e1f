"""The conditions that filters are made of: for which elements of an output does no specification fix the result?

A condition looks at one output, beside the inputs and the other outputs, and answers with a mask of that output's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opera.instance import Instance
from opera.models.arrays import Array, as_array, dtype_name, is_array
from opera.oracles.decompositions import is_decomposition

_WIDTH = 8
_COORDINATES = 2
_UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "complex64": 2.0**-24}
"""Largest relative error of one rounding."""


@dataclass(frozen=True)
class Evidence:
    """What a condition looks at.

    Attributes:
        instance: What the model was made from.
        inputs: The model's.
        place: The input that the filter names.
        outputs: The library's outputs.
        results: The compiler's; None where it gave none.
        index: The output in question.
        crossed: Where a rounding error of the inputs takes the library from its own result to the compiler's, exactly on a step as well.
        exact: The output where narrower signed integers are int64; None where it cannot be had.
    """

    instance: Instance
    inputs: Sequence[Any]
    place: int
    outputs: Sequence[Any]
    results: Sequence[Any] | None
    index: int
    crossed: Callable[[], Array]
    exact: Callable[[], Array | None]

    @property
    def expected(self) -> Array:
        """The library's output."""
        return as_array(self.outputs[self.index])

    @property
    def actual(self) -> Array | None:
        """The compiler's, of the same shape."""
        return None if self.results is None else as_array(self.results[self.index])

    @property
    def input(self) -> Array | None:
        """The input that the filter names, where it is an array."""
        if self.place >= len(self.inputs) or not is_array(self.inputs[self.place]):
            return None
        return as_array(self.inputs[self.place])

    def arrays(self, kinds: str) -> list[Array]:
        """The inputs that are arrays of dtypes of these numpy kinds."""
        arrays = [as_array(value) for value in self.inputs if is_array(value)]
        return [array for array in arrays if array.dtype.kind in kinds]

    def spread(self, mask: Array) -> Array:
        """A mask over the input as one over the output: element by element where the shapes allow it, else all or nothing."""
        try:
            return np.broadcast_to(mask, self.expected.shape)
        except ValueError:
            return self.everywhere(bool(mask.any()))

    def everywhere(self, condition: bool) -> Array:
        """Every element, or none."""
        return np.full(self.expected.shape, condition)

    def nowhere(self) -> Array:
        """No element."""
        return self.everywhere(False)


def _always(evidence: Evidence) -> Array:
    return evidence.everywhere(True)


def _given(evidence: Evidence) -> Array:
    return evidence.everywhere(evidence.input is not None)


def _integer_zero(evidence: Evidence) -> Array:
    divisor = evidence.input
    return evidence.nowhere() if divisor is None or divisor.dtype.kind not in "iub" else evidence.spread(divisor == 0)


def _index_out_of_range(evidence: Evidence) -> Array:
    """Everywhere, where an index is past either end of the axis of the first input that it counts along."""
    source, indices = evidence.inputs[0] if evidence.inputs else None, evidence.input
    if not is_array(source) or indices is None or indices.dtype.kind not in "iu" or not as_array(source).ndim:
        return evidence.nowhere()
    axis = next((each.value for each in evidence.instance.arguments() if each.name in ("axis", "dim") and type(each.value) is int), 0)
    shape = as_array(source).shape
    if not -len(shape) <= axis < len(shape):
        return evidence.nowhere()
    wide = indices.astype(np.float64)
    return evidence.everywhere(bool(((wide < -shape[axis]) | (wide >= shape[axis])).any()))


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


def _wraps(evidence: Evidence) -> Array:
    """Where the exact result is past the ends of a signed type, and the library has taken it modulo the type's range."""
    narrow = evidence.expected
    exact = evidence.exact() if narrow.dtype.kind == "i" and narrow.dtype.itemsize < 8 else None
    if exact is None or exact.dtype.kind != "i":
        return evidence.nowhere()
    return (exact != narrow) & (exact.astype(narrow.dtype) == narrow)


def _end_of_range(evidence: Evidence) -> Array:
    """Where the compiler gives infinity, and the library a number within a hundredth of the largest one of that sign."""
    expected, actual = evidence.expected, evidence.actual
    if actual is None or expected.dtype.kind != "f" or actual.dtype != expected.dtype:
        return evidence.nowhere()
    with np.errstate(all="ignore"):
        large = np.isfinite(expected) & (np.abs(expected) > 0.99 * float(np.finfo(expected.dtype).max))
    return large & np.isinf(actual) & (np.sign(expected) == np.sign(actual))


def _no_code(evidence: Evidence) -> Array:
    """Where the target format has no encoding for the value: NaN in 4 bits, zero and negative numbers as a power of two."""
    source, target = evidence.input, evidence.expected.dtype.name
    if source is None or source.dtype.kind in "OSU" or target not in ("float4_e2m1fn", "float8_e8m0fnu"):
        return evidence.nowhere()
    wide = source.astype(np.float64)
    return evidence.spread(np.isnan(wide) if target == "float4_e2m1fn" else wide <= 0)


def _subnormal(evidence: Evidence) -> Array:
    """Where an input is too small for a normal number of its dtype: processors may take it for zero."""
    found = evidence.nowhere()
    for array in evidence.arrays("fc"):
        name = dtype_name(array.dtype)
        if name in ("float32", "float64", "complex64", "complex128"):
            size = np.abs(array)
            found = found | evidence.spread((size > 0) & (size < np.finfo(array.dtype).tiny))
    return found


def _input_nan(evidence: Evidence) -> Array:
    array = evidence.input
    if array is None or array.dtype.kind in "iubOSU":
        return evidence.nowhere()
    return evidence.everywhere(bool(np.isnan(array.astype(np.complex128)).any()))


def _library_nan(evidence: Evidence) -> Array:
    return np.isnan(evidence.expected) if evidence.expected.dtype.kind in "fc" else evidence.nowhere()


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
    are, their signs alone decide.
    """
    source, expected, actual = evidence.input, evidence.expected, evidence.actual
    if source is None or actual is None or source.dtype.kind not in "fc" or source.shape != expected.shape:
        return evidence.nowhere()
    mirrored = np.conj(expected) if expected.dtype.kind == "c" else -expected
    with np.errstate(all="ignore"):
        mirror = np.isclose(actual, mirrored, 1e-3, 1e-4)
    if source.dtype.kind == "c":
        return (np.imag(source) == 0) & mirror
    pair = evidence.arrays("f")
    if len(pair) < _COORDINATES:
        return evidence.nowhere()
    return (source == 0) & (mirror | evidence.spread(pair[1] == 0))


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


def _half_pixel(evidence: Evidence) -> Array:
    """Where a point of a sampling grid lies halfway between two pixels: image `(n, c, *lengths)`, grid `(n, *points, dimensions)`."""
    image, grid = evidence.inputs[0] if evidence.inputs else None, evidence.input
    if not is_array(image) or grid is None or grid.ndim < 3 or as_array(image).ndim != grid.shape[-1] + 2:
        return evidence.nowhere()
    lengths = np.asarray(as_array(image).shape[:1:-1], np.float64)
    wide = grid.astype(np.float64)
    aligned = any(each.name == "align_corners" and each.value in (True, 1) for each in evidence.instance.arguments())
    places = (wide + 1) / 2 * (lengths - 1) if aligned else ((wide + 1) * lengths - 1) / 2
    halves = (np.abs(places - np.floor(places) - 0.5) < 1e-5).any(axis=-1)
    return evidence.spread(np.expand_dims(halves, 1))


def _fractional_length(evidence: Evidence) -> Array:
    """Everywhere, where the lengths of the first input times the factors among the others are no whole numbers."""
    shape = as_array(evidence.inputs[0]).shape if evidence.inputs and is_array(evidence.inputs[0]) else ()
    factors = [as_array(value).reshape(-1) for value in evidence.inputs[1:] if is_array(value)]
    products = [shape[-each.size :] * each.astype(np.float64) for each in factors if each.dtype.kind == "f" and 0 < each.size <= len(shape)]
    return evidence.everywhere(any(bool((np.abs(each - np.rint(each)) > 1e-4).any()) for each in products))


CONDITIONS: Mapping[str, Callable[[Evidence], Array]] = {
    "always": _always,
    "given": _given,
    "integer-zero": _integer_zero,
    "index-out-of-range": _index_out_of_range,
    "from-nan": _from_nan,
    "negative-exponent": _negative_exponent,
    "shift-past-width": _shift_past_width,
    "unrepresentable": _unrepresentable,
    "wraps": _wraps,
    "end-of-range": _end_of_range,
    "no-code": _no_code,
    "subnormal": _subnormal,
    "input-nan": _input_nan,
    "library-nan": _library_nan,
    "same-elements": _same_elements,
    "equal-scores": _equal_scores,
    "written-twice": _written_twice,
    "decomposition": _decomposition,
    "branch-cut": _branch_cut,
    "accumulated": _accumulated,
    "computed-step": _computed_step,
    "half-pixel": _half_pixel,
    "fractional-length": _fractional_length,
}
OF_INPUTS = frozenset({"integer-zero", "index-out-of-range", "negative-exponent", "shift-past-width", "unrepresentable"})
"""Conditions on the inputs alone, which may kill a process as well as give any result."""
