"""Compares a compiler's outputs with the library's: structure, count, shape, dtype, NaN and infinity masks, then values.

Runs in the compiler's worker, on numpy arrays. The first difference in that order is the one reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from opera.models.arrays import Array, as_array, as_text, dtype_name, is_array
from opera.oracles.ties import select_the_same
from opera.oracles.tolerance import Tolerance, tolerance_of


@dataclass(frozen=True)
class Difference:
    """What differs, first in the order of comparison.

    Attributes:
        kind: `structure`, `count`, `shape`, `dtype`, `nan`, `inf` or `values`.
        output: Index of the output.
        expected: The library's, as text (a shape, a dtype, a value).
        actual: The compiler's.
        distance: Largest absolute difference (Chebyshev), for `values`.
        allowed: What the tolerance allowed at that element.
        share: Share of the elements that differ, 0 to 1.
        dtype: Of the library's output, where it is an array.
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

    def document(self) -> dict[str, Any]:
        """As JSON; non-finite numbers become text."""
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


def compare(
    expected: Sequence[Any], precise: Sequence[Any] | None, actual: Sequence[Any], policy: Policy, inputs: Sequence[Any] = ()
) -> Difference | None:
    """The first difference between two lists of outputs, or None.

    Args:
        expected: The library's outputs: arrays, lists of arrays (sequences), or None (absent optionals).
        precise: The same in double precision, where known.
        actual: The compiler's outputs.
        policy: How strict to be.
        inputs: What the model was given; an output of indices is compared by what it selects of them.
    """
    if len(expected) != len(actual):
        return Difference("count", 0, f"{len(expected)} outputs", f"{len(actual)} outputs")
    found: Difference | None = None
    for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
        finer = precise[index] if precise is not None and index < len(precise) else None
        difference = _compare_item(index, one, finer, other, policy)
        difference = _unless_tie(difference, one, other, inputs)
        if difference is not None and is_array(one):
            difference = replace(difference, dtype=dtype_name(as_array(one).dtype))
        if difference is not None and difference.explained is None:
            return difference
        found = found or difference
    return found


def _unless_tie(difference: Difference | None, expected: Any, actual: Any, inputs: Sequence[Any]) -> Difference | None:
    """*difference*, explained where both outputs are indices that select the same."""
    if difference is None or difference.kind != "values" or not (is_array(expected) and is_array(actual)):
        return difference
    arrays = [as_array(each) for each in inputs if is_array(each)]
    if select_the_same(as_array(expected), as_array(actual), arrays):
        return replace(difference, explained="tie")
    return difference


def _compare_item(index: int, expected: Any, precise: Any, actual: Any, policy: Policy) -> Difference | None:
    if isinstance(expected, (list, tuple)):
        items = cast("list[Any]", expected)
        if not isinstance(actual, (list, tuple)):
            return Difference("structure", index, f"sequence of {len(items)}", _kind_of(actual))
        others = cast("list[Any]", actual)
        if len(items) != len(others):
            return Difference("structure", index, f"sequence of {len(items)}", f"sequence of {len(others)}")
        finer = cast("list[Any]", precise) if isinstance(precise, (list, tuple)) else [None] * len(items)
        differences = (_compare_item(index, *three, policy) for three in zip(items, finer, others, strict=True))
        return next((difference for difference in differences if difference is not None), None)
    if not is_array(expected) or not is_array(actual):
        if expected is None and actual is None:
            return None
        return Difference("structure", index, _kind_of(expected), _kind_of(actual))
    return _compare_arrays(index, as_array(expected), as_array(precise) if is_array(precise) else None, as_array(actual), policy)


def _kind_of(value: Any) -> str:
    if value is None:
        return "nothing"
    return "tensor" if is_array(value) else type(value).__name__


def _name_of(dtype: np.dtype[Any]) -> str:
    """The canonical name where there is one; a compiler may answer with any numpy dtype."""
    try:
        return dtype_name(dtype)
    except ValueError:
        return str(dtype)


def _texts(array: Array) -> Array:
    """The elements of a string tensor as text, whatever held them."""
    flat = np.empty(array.size, dtype=object)
    flat[:] = [as_text(item) for item in array.reshape(-1).tolist()]
    return flat.reshape(array.shape)


def _compare_arrays(index: int, expected: Array, precise: Array | None, actual: Array, policy: Policy) -> Difference | None:
    if expected.shape != actual.shape:
        return Difference("shape", index, str(list(expected.shape)), str(list(actual.shape)))
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


def _excused(difference: Difference, expected: Array, actual: Array, computed: str, policy: Policy) -> Difference:
    """Whether computing in *computed* instead of the declared dtype explains the difference."""
    from opera.models.arrays import numpy_dtype

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
        halves = [_compare_reals(index, *parts, tolerance) for parts in _parts(expected, precise, actual)]
        return next((difference for difference in halves if difference is not None), None)
    return _compare_reals(index, expected, precise, actual, tolerance)


def _parts(expected: Array, precise: Array | None, actual: Array) -> list[tuple[Array, Array | None, Array]]:
    wide: Array = actual.astype(np.complex128)
    finer: Array | None = None if precise is None else precise.astype(np.complex128)
    return [
        (np.real(expected), None if finer is None else np.real(finer), np.real(wide)),
        (np.imag(expected), None if finer is None else np.imag(finer), np.imag(wide)),
    ]


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
        "values", index, str(one), str(other), distance, 0.0, float(different.mean()), explained
    )  # fmt: skip


def _compare_reals(index: int, expected: Array, precise: Array | None, actual: Array, tolerance: Tolerance) -> Difference | None:
    if expected.size == 0:
        return None
    one: Array = expected.astype(np.float64)
    other: Array = actual.astype(np.float64)
    truth: Array = one if precise is None or precise.shape != one.shape else np.real(precise).astype(np.float64)
    for kind, mask in (("nan", np.isnan), ("inf", _signed_infinity)):
        different = mask(one) != mask(other)
        if different.any():
            explained = "ill-conditioned" if bool((mask(one) != mask(truth)).any()) else None
            return _pick(kind, index, one, other, different, None, None, explained)
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.any():
        return None
    with np.errstate(all="ignore"):
        own_error: Array = np.where(finite & np.isfinite(truth), np.abs(one - truth), 0.0)
        base: Array = np.where(np.isfinite(truth), truth, one)
        largest = float(np.abs(base[finite]).max())
        allowed: Array = tolerance.absolute + tolerance.relative * np.abs(base) + tolerance.of_largest * largest
        distance: Array = np.where(finite, np.minimum(np.abs(other - base), np.abs(other - one)), 0.0)
    different = distance > allowed + tolerance.reference_errors * float(own_error.max())
    if not different.any():
        return None
    explained = "ill-conditioned" if bool((own_error > allowed).any()) else None
    return _pick("values", index, one, other, different, distance, allowed, explained)


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
        kind, index, repr(float(one.reshape(-1)[place])), repr(float(other.reshape(-1)[place])),
        None if distance is None else float(distance.reshape(-1)[place]),
        None if allowed is None else float(allowed.reshape(-1)[place]),
        float(different.mean()), explained,
    )  # fmt: skip
