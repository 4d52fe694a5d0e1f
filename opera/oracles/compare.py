"""Compares a compiler's outputs with the library's: structure, count, shape, dtype, NaN and infinity masks, then values.

Runs in the compiler's worker, on numpy arrays. The first difference in that order is the one reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from opera.arrays import Array, ModelValue, Outputs, Signature, as_array, as_text, dtype_name, is_array, numpy_dtype
from opera.oracles.tolerance import Tolerance, tolerance_of
from opera.oracles.verdict import SHAPE_VARIES

_LARGEST = 1 << 20


def select_the_same(expected: Array, actual: Array, inputs: Iterable[Array]) -> bool:
    """Whether two arrays of indices pick equal elements, along one axis of one of the inputs.

    The indices must be in range. Where the expected ones are distinct along that axis (a sorting, the k largest), the actual ones must
    be distinct, too: an operator that repeats an element has not chosen among equals.

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


_MOSTLY = 0.5
"""Largest share of unreliable elements in the library's output; beyond it (e.g. random numbers), the whole output is no reference."""


@dataclass(frozen=True)
class Difference:
    """A difference, the first in the order of comparison.

    Attributes:
        kind: `structure`, `count`, `shape`, `dtype`, `nan`, `inf` or `values`.
        output: Index of the output.
        expected: The library's, as text (a shape, a dtype, a value).
        actual: The compiler's.
        distance: Largest absolute difference (Chebyshev), for `values`.
        allowed: What the tolerance allowed at that element.
        share: Share of the elements that differ, 0 to 1.
        dtype: Dtype of the library's output, where it is an array.
        stated: Whether the compiled model only states it, and its outputs do not show it; else None.
        explained: Why this is no fault of the compiler (`precision-policy`, `ill-conditioned`, `tie`); None when nothing explains it.
    """

    kind: str
    output: int
    expected: str
    actual: str
    distance: float | None = None
    allowed: float | None = None
    share: float | None = None
    explained: str | None = None
    dtype: str | None = None
    stated: bool | None = None

    def document(self) -> dict[str, float | str | None]:
        """The difference as JSON; non-finite numbers become text."""
        return {
            name: (str(value) if isinstance(value, float) and not np.isfinite(value) else value)
            for name, value in asdict(self).items()
            if value is not None
        }


@dataclass(frozen=True)
class Policy:
    """How strict a comparison is.

    Attributes:
        computes_as: dtype to the dtype that the compiler declares to compute it as (OpenVINO: float64 as float32).
        chebyshev: The paper's single threshold on the largest absolute difference; None for dtype-aware tolerances.
    """

    computes_as: dict[str, str]
    chebyshev: float | None = None


def disagreement(outputs: Outputs, others: Iterable[Outputs]) -> str | None:
    """Why the library's *outputs* are no reference, where *others* of its runs give others; None where all agree."""
    for other in others:
        difference = compare(outputs, None, other, Policy({}))
        if difference is not None:
            return SHAPE_VARIES if difference.kind == "shape" else "library-disagrees-with-itself"
    return None


def compare(
    expected: Outputs,
    precise: Outputs | None,
    actual: Outputs,
    policy: Policy,
    inputs: Outputs = (),
    *,
    ordered: bool = False,
) -> Difference | None:
    """The first difference between two lists of outputs, or None.

    Args:
        expected: The library's outputs: arrays, lists of arrays (sequences), or None (absent optionals).
        precise: The same in double precision, where known.
        actual: The compiler's outputs.
        policy: How strict to be.
        inputs: What the model was given; an output of indices is compared by what it selects of them.
        ordered: Whether the library says which of equal elements its indices name, so that no other will do.
    """
    if len(expected) != len(actual):
        return Difference("count", 0, f"{len(expected)} outputs", f"{len(actual)} outputs")
    found: Difference | None = None
    beyond = _is_beyond([*inputs, *expected], policy)
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        finer = precise[index] if precise is not None and index < len(precise) else None
        first = _compare_item(index, one, finer, other, policy)
        if first is None:
            continue
        difference: Difference = first
        if beyond and difference.explained is None and difference.kind in ("values", "nan", "inf"):
            difference = replace(difference, explained="precision-policy")
        if not ordered and _is_tie(difference, one, other, inputs):
            difference = replace(difference, explained="tie")
        if is_array(one):
            difference = replace(difference, dtype=dtype_name(as_array(one).dtype))
        if difference.explained is None:
            return difference
        found = difference if found is None else found
    return found


def as_stated(expected: Outputs, stated: Signature) -> Outputs:
    """*expected*, with zeros in place of each tensor of which a compiled model states another dtype or shape."""
    given = [*expected, *[None] * len(stated)][: len(stated)]
    return [_as_stated(one, dtype, shape) for one, (dtype, shape) in zip(given, stated, strict=True)]


def _as_stated(expected: ModelValue, dtype: str | None, shape: Sequence[int | None] | None) -> ModelValue:
    if not is_array(expected):
        return expected
    array = as_array(expected)
    own = [*array.shape, *[1] * len(shape or ())]
    sizes = array.shape if shape is None else tuple(size if stated is None else stated for size, stated in zip(own, shape, strict=False))
    kind = array.dtype if dtype is None or dtype == dtype_name(array.dtype) else numpy_dtype(dtype)
    return expected if (sizes, kind) == (array.shape, array.dtype) else np.broadcast_to(np.zeros((), kind), sizes)


def _is_beyond(values: Outputs, policy: Policy) -> bool:
    """Whether the dtype that the compiler declares to compute in cannot hold an integer among *values*."""
    for value in values:
        array = as_array(value) if is_array(value) else None
        if array is not None and array.size and array.dtype.kind in "iu" and (name := dtype_name(array.dtype)) in policy.computes_as:
            limits = np.iinfo(policy.computes_as[name])
            if int(array.min()) < limits.min or int(array.max()) > limits.max:
                return True
    return False


def _is_tie(difference: Difference, expected: ModelValue, actual: ModelValue, inputs: Outputs) -> bool:
    """Whether both outputs are indices that select the same."""
    if difference.kind != "values" or not (is_array(expected) and is_array(actual)):
        return False
    arrays = [as_array(each) for each in inputs if is_array(each)]
    return select_the_same(as_array(expected), as_array(actual), arrays)


def _compare_item(index: int, expected: ModelValue, precise: ModelValue, actual: ModelValue, policy: Policy) -> Difference | None:
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)):
            return Difference("structure", index, f"sequence of {len(expected)}", _kind_of(actual))
        if len(expected) != len(actual):
            return Difference("structure", index, f"sequence of {len(expected)}", f"sequence of {len(actual)}")
        finer = precise if isinstance(precise, (list, tuple)) else [None] * len(expected)
        differences = (_compare_item(index, *three, policy) for three in zip(expected, finer, actual, strict=True))
        return next((difference for difference in differences if difference is not None), None)
    if not is_array(expected) or not is_array(actual):
        if expected is None and actual is None:
            return None
        return Difference("structure", index, _kind_of(expected), _kind_of(actual))
    return _compare_arrays(index, as_array(expected), as_array(precise) if is_array(precise) else None, as_array(actual), policy)


def _kind_of(value: object) -> str:
    if value is None:
        return "nothing"
    return "tensor" if is_array(value) else type(value).__name__


def _name_of(dtype: np.dtype[Any]) -> str:
    """The canonical name of a dtype; its numpy name if it has no canonical one, since a compiler may return any numpy dtype."""
    try:
        return dtype_name(dtype)
    except ValueError:
        return str(dtype)


def _texts(array: Array) -> Array:
    """The elements of a string tensor as text."""
    flat = np.empty(array.size, dtype=object)
    flat[:] = [as_text(item) for item in array.reshape(-1).tolist()]
    return flat.reshape(array.shape)


def _compare_arrays(index: int, expected: Array, precise: Array | None, actual: Array, policy: Policy) -> Difference | None:
    if expected.shape != actual.shape:
        if expected.dtype.kind == "c" and actual.dtype.kind == "f" and actual.shape == (*expected.shape, 2):
            return _compare_pairs(index, expected, precise, actual, policy)
        return Difference("shape", index, str(list(expected.shape)), str(list(actual.shape)))
    if _has_same_bits(expected, actual):
        return None
    name, other = dtype_name(expected.dtype), _name_of(actual.dtype)
    computed = policy.computes_as.get(name, name)
    if name != other:
        explained = "precision-policy" if other == computed else None
        if explained is None:
            return Difference("dtype", index, name, other)
    if name == "string" or other == "string":
        return _compare_exactly(index, _texts(expected), _texts(actual), None)
    values = _compare_values(index, expected, precise, actual, policy)
    if values is not None and values.explained is None and computed != name:
        return _excused(values, expected, actual, computed, policy)
    if values is None and name != other:
        return Difference("dtype", index, name, other, explained="precision-policy")
    return values


def _has_same_bits(one: Array, other: Array) -> bool:
    """Whether two arrays of one shape have the same dtype and bytes, as most outputs do; then no tolerance needs to be asked."""
    return one.dtype == other.dtype and not one.dtype.hasobject and one.tobytes() == other.tobytes()


def _compare_pairs(index: int, expected: Array, precise: Array | None, actual: Array, policy: Policy) -> Difference:
    """Compares complex numbers with pairs of real ones, in which formats without complex numbers hold them."""
    numbers = (actual[..., 0] + 1j * actual[..., 1]).astype(expected.dtype)
    found = _compare_arrays(index, expected, precise, numbers, policy)
    return found or Difference("shape", index, str(list(expected.shape)), str(list(actual.shape)), explained="complex-as-pairs")


def _excused(difference: Difference, expected: Array, actual: Array, computed: str, policy: Policy) -> Difference:
    """Whether computing in *computed* instead of the declared dtype explains the difference."""
    narrow = numpy_dtype(computed)
    with np.errstate(all="ignore"):
        again = _compare_values(difference.output, expected.astype(narrow), None, actual.astype(narrow), policy)
    if again is not None:
        return difference
    return replace(difference, explained="precision-policy")


def _compare_values(index: int, expected: Array, precise: Array | None, actual: Array, policy: Policy) -> Difference | None:
    tolerance = tolerance_of(dtype_name(expected.dtype), policy.chebyshev)
    if tolerance is None:
        return _compare_exactly(index, expected, actual, None)
    if expected.dtype.kind == "c":
        size: Array = np.abs(expected.astype(np.complex128))
        found = [_compare_reals(index, *parts, tolerance, size) for parts in _parts(expected, precise, actual)]
        differences = [difference for difference in found if difference is not None]
        return next((each for each in differences if each.explained is None), differences[0] if differences else None)
    return _compare_reals(index, expected, precise, actual, tolerance)


def _parts(expected: Array, precise: Array | None, actual: Array) -> list[tuple[Array, Array | None, Array]]:
    """Real and imaginary parts. A number with a NaN part is NaN: no rule of arithmetic fixes the other part."""
    one, other = _whole(expected), _whole(actual)
    finer: Array | None = None if precise is None else _whole(precise)
    return [
        (np.real(one), None if finer is None else np.real(finer), np.real(other)),
        (np.imag(one), None if finer is None else np.imag(finer), np.imag(other)),
    ]


def _whole(values: Array) -> Array:
    wide: Array = values.astype(np.complex128)
    return np.where(np.isnan(wide), complex(np.nan, np.nan), wide)


def _compare_exactly(index: int, expected: Array, actual: Array, explained: str | None) -> Difference | None:
    different = np.asarray(expected != actual)
    if not different.any():
        return None
    place = int(np.argmax(different.reshape(-1)))
    one, other = expected.reshape(-1)[place], actual.reshape(-1)[place]
    distance = None
    if expected.dtype.kind in "iub" and actual.dtype.kind in "iub":
        distance = float(max(abs(int(a) - int(b)) for a, b in zip(expected[different], actual[different], strict=True)))
    return Difference(
        kind="values",
        output=index,
        expected=str(one),
        actual=str(other),
        distance=distance,
        allowed=0.0,
        share=float(different.mean()),
        explained=explained,
    )


def _compare_reals(
    index: int, expected: Array, precise: Array | None, actual: Array, tolerance: Tolerance, size: Array | None = None
) -> Difference | None:
    """Compares real numbers; *size* is what the tolerance is relative to, where it is not the reference (parts of complex numbers)."""
    if expected.size == 0:
        return None
    one: Array = expected.astype(np.float64)
    other: Array = actual.astype(np.float64)
    truth: Array = one if precise is None or precise.shape != one.shape else np.real(precise).astype(np.float64)
    for kind, mask in (("nan", np.isnan), ("inf", _signed_infinity)):
        different = mask(one) != mask(other)
        if different.any():
            left = different & (mask(one) == mask(truth))
            explained = None if left.any() else "ill-conditioned"
            return _pick(kind, index, one, other, left if left.any() else different, None, None, explained)
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.any():
        return None
    with np.errstate(all="ignore"):
        own_error: Array = np.where(finite & np.isfinite(truth), np.abs(one - truth), 0.0)
        base: Array = np.where(np.isfinite(truth), truth, one)
        scale: Array = np.abs(base) if size is None else np.where(np.isfinite(size), size, np.abs(base))
        largest = float(scale[finite].max())
        allowed: Array = tolerance.absolute + tolerance.relative * scale + tolerance.of_largest * largest
        distance: Array = np.where(finite, np.minimum(np.abs(other - base), np.abs(other - one)), 0.0)
    ordinary = float(np.max(own_error, initial=0.0, where=own_error <= allowed))
    different = distance > allowed + tolerance.reference_errors * np.maximum(own_error, ordinary)
    if not different.any():
        return None
    astray = own_error > allowed
    left = different & ~astray
    explained = "ill-conditioned" if not left.any() or astray.mean() > _MOSTLY else None
    return _pick("values", index, one, other, left if left.any() else different, distance, allowed, explained)


def _signed_infinity(values: Array) -> Array:
    return np.where(np.isinf(values), np.sign(values), 0.0)


def _pick(
    kind: str,
    index: int,
    one: Array,
    other: Array,
    different: Array,
    distance: Array | None,
    allowed: Array | None,
    explained: str | None,
) -> Difference:
    """Describes the worst element."""
    scores = different.astype(np.float64) if distance is None else np.where(different, distance, -1.0)
    place = int(np.argmax(scores.reshape(-1)))
    return Difference(
        kind=kind,
        output=index,
        expected=repr(float(one.reshape(-1)[place])),
        actual=repr(float(other.reshape(-1)[place])),
        distance=None if distance is None else float(distance.reshape(-1)[place]),
        allowed=None if allowed is None else float(allowed.reshape(-1)[place]),
        share=float(different.mean()),
        explained=explained,
    )
