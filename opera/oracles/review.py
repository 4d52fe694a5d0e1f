"""Reviews a confirmed failure in the library's worker: is the compiler wrong, or does no specification fix the result?

Two things can excuse an element of an output that differs:

- a filter: a kind of result that no specification fixes;
- the neighbourhood: the library computes in double precision, and gets another result for inputs that differ by a rounding error of their
  own dtype. That happens at steps (rounding, comparing, choosing the nearest) and on steep slopes (an almost singular matrix). An input
  that lies exactly on a step is no excuse, because its result is specified.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Protocol

import numpy as np

from opera.arrays import Array, Outputs, as_array, dtype_name, is_array, numpy_dtype
from opera.instance import Instance
from opera.oracles.evidence import Evidence
from opera.oracles.filters import Filter, filters, lengths_are_computed
from opera.oracles.tolerance import apart, differ, tolerance_of

OPINIONS = "opera.opinions"
"""Entry points by library: a function of model, case, `Review` and `Stages.enter` that gives what else excuses, or raises `Invalid`."""
ILL_CONDITIONED = "ill-conditioned"
DEVICE_DEPENDENT = "device-dependent"
_ROUNDING = {
    "float64": 2.0**-50,
    "float32": 2.0**-22,
    "float16": 2.0**-9,
    "bfloat16": 2.0**-6,
    "complex64": 2.0**-22,
    "complex128": 2.0**-50,
}
"""Relative size of a few rounding errors of each dtype."""
_HARDLY = 2.0**-46
"""Relative size of a change that only matters exactly on a step."""
_SLOPE = 2.0**-8
"""Largest effect of such a change, relative to the effect of a rounding error, on a steep slope without a step."""
_STILL = 6
"""Number of draws that check whether such a change matters."""
_DRAWS = 12
_MOST_DRAWS = 96
"""Draws of the neighbourhood where the result is an index: of n equal numbers, each has to come first in one of them."""
_SLOPES = 4.0
"""Largest distance of a compiler's result, as a multiple of the distance of the library's results in the neighbourhood."""
_LARGE = 2.0**16
"""Size of numbers near a pole, such as quotients by a rounding error."""


class Nearby(Protocol):
    """The library's outputs in double precision, for other inputs; see `opera.models.template.Model.nearby`."""

    def __call__(self, scale: float, draw: int, computes_as: Mapping[str, str] | None = None, /) -> Outputs | None: ...


Exact = Callable[[str], "Outputs | None"]
Shapes = Callable[[], "Sequence[tuple[int, ...]] | None"]


@dataclass(frozen=True)
class Excuse:
    """Reason why the compiler is not at fault. *why* is one sentence."""

    reason: str
    why: str


@dataclass(frozen=True)
class Case:
    """A failing test as the reviewer sees it.

    Attributes:
        instance: What the model was made from.
        inputs: The model's, in order.
        expected: The library's outputs.
        actual: The compiler's; None when it gave none, because it raised or died.
        nearby: The library's outputs in double precision with floating-point inputs changed by a relative amount; the number says in which
            directions. None where they cannot be had.
        exact: Its outputs where narrower integers are int64 or float64; None where they cannot be had.
        shapes_elsewhere: The shapes of its outputs on another kind of device; None where it does not say.
        shapes_rounded: Their shapes where floating-point parameters are rounded to float32, as which formats keep them; None where they
            cannot be had.
        computes_as: The dtypes that the compiler declares to compute as others: their rounding errors are those of the others.
        inner: The dtypes of values that are computed on the way from the inputs to the outputs.
    """

    instance: Instance
    inputs: Outputs
    expected: Outputs
    actual: Outputs | None
    nearby: Nearby
    exact: Exact = lambda _: None
    shapes_elsewhere: Shapes = lambda: None
    shapes_rounded: Shapes = lambda: None
    computes_as: Mapping[str, str] = field(default_factory=dict[str, str])
    inner: Collection[str] = ()


def review(case: Case) -> Excuse | None:
    """The excuse that covers everything that is wrong in *case*, or None."""
    if case.actual is None:
        return _of_a_dead_process(case)
    if len(case.actual) != len(case.expected):
        return None
    reasons: Counter[str] = Counter()
    whys: dict[str, str] = {}
    neighbourhood = cache(lambda: _Neighbourhood(case))
    for index, (one, other) in enumerate(zip(case.expected, case.actual, strict=True)):
        if not (is_array(one) and is_array(other)):
            return None
        expected, actual = as_array(one), as_array(other)
        excuse = None if expected.shape == actual.shape else _excuse_of_shape(case, index, actual, neighbourhood)
        if excuse is not None:
            reasons[excuse] += 1
            continue
        if expected.shape != actual.shape or expected.dtype.kind in "OSU" or not _has_its_dtype(expected, actual, case.computes_as):
            return None
        left = differ(expected, actual)
        for each in filters():
            if left.any() and each.scope.applies(case.instance):
                covered = left & each.mask(_evidence(case, each, index, neighbourhood))
                reasons[each.reason] += int(covered.sum())
                whys.setdefault(each.reason, each.scope.why)
                left &= ~covered
        if left.any():
            covered = left & neighbourhood().covers(index, expected, actual)
            reasons[ILL_CONDITIONED] += int(covered.sum())
            left &= ~covered
        if left.any():
            return None
    whys[ILL_CONDITIONED] = "inputs that are off by a rounding error give the library another result as well"
    whys[DEVICE_DEPENDENT] = "the library itself gives an output of this shape on another kind of device"
    reason = next((name for name, count in reasons.most_common() if count), None)
    return None if reason is None else Excuse(reason, whys[reason])


def _has_its_dtype(expected: Array, actual: Array, computes_as: Mapping[str, str]) -> bool:
    """Whether *actual* has the library's dtype, or the one that the compiler declares to compute that one as."""
    return actual.dtype in (expected.dtype, numpy_dtype(computes_as.get(dtype_name(expected.dtype), dtype_name(expected.dtype))))


def _excuse_of_shape(case: Case, index: int, actual: Array, neighbourhood: Callable[[], _Neighbourhood]) -> str | None:
    """Why the output *index* may have the shape of *actual*, which is not the library's."""
    if _has_that_shape(case, case.shapes_elsewhere(), index, actual):
        return DEVICE_DEPENDENT
    if not lengths_are_computed(case.instance):
        return None
    if neighbourhood().has_shape(index, actual.shape) or _has_that_shape(case, case.shapes_rounded(), index, actual):
        return ILL_CONDITIONED
    return None


def _has_that_shape(case: Case, shapes: Sequence[tuple[int, ...]] | None, index: int, actual: Array) -> bool:
    """Whether *shapes*, one for each output, contain the shape of *actual*, which has the library's dtype."""
    if shapes is None or len(shapes) != len(case.expected):
        return False
    return tuple(shapes[index]) == actual.shape and as_array(case.expected[index]).dtype == actual.dtype


def _of_a_dead_process(case: Case) -> Excuse | None:
    for each in filters():
        if not each.is_of_inputs or not each.scope.applies(case.instance):
            continue
        evidences = (_evidence(case, each, index, None) for index, one in enumerate(case.expected) if is_array(one))
        if any(each.mask(evidence).any() for evidence in evidences):
            return Excuse(each.reason, each.scope.why)
    return None


def _evidence(case: Case, row: Filter, index: int, neighbourhood: Callable[[], _Neighbourhood] | None) -> Evidence:
    def crossed() -> Array:
        expected = as_array(case.expected[index])
        if case.actual is None or neighbourhood is None:
            return np.zeros(expected.shape, dtype=bool)
        return neighbourhood().covers(index, expected, as_array(case.actual[index]), on_a_step=True)

    def exact(dtype: str) -> Array | None:
        return output_of(case.exact(dtype))

    def rounded() -> Array | None:
        return output_of(case.nearby(0.0, 0, case.computes_as))

    def output_of(results: Outputs | None) -> Array | None:
        outputs = _outputs([results], index, as_array(case.expected[index]).shape)
        return outputs[0] if outputs else None

    return Evidence(case.instance, case.inputs, row.input, case.expected, case.actual, index, crossed, exact, rounded, case.computes_as)


class _Neighbourhood:
    """The library's results around the inputs; computed when they are first needed."""

    def __init__(self, case: Case) -> None:
        dtypes = [*case.inner, *(dtype_name(as_array(value).dtype) for value in (*case.inputs, *case.expected) if is_array(value))]
        sizes = [_ROUNDING[name] for name in (case.computes_as.get(each, each) for each in dtypes) if name in _ROUNDING]
        self._base = case.nearby(0.0, 0) if sizes else None
        self._still = [case.nearby(_HARDLY, draw) for draw in range(_STILL)] if self._base is not None else []
        self._draw = partial(case.nearby, max(sizes, default=0.0))
        self._near = [self._draw(draw) for draw in range(_DRAWS)] if self._base is not None else []

    def has_shape(self, index: int, shape: tuple[int, ...]) -> bool:
        """Whether the library may give the output *index* each length of *shape* that is not its own, without being exactly on a step."""
        base, still, near = (_shapes(runs, index) for runs in ((self._base,), (self._base, *self._still), self._near))
        if not base or {len(each) for each in (*still, *near)} != {len(shape)}:
            return False
        lengths = [({each[axis] for each in still}, {each[axis] for each in near}, length) for axis, length in enumerate(shape)]
        (own,) = base
        return all(length == own[axis] or (len(exact) == 1 and length in near) for axis, (exact, near, length) in enumerate(lengths))

    def covers(self, index: int, expected: Array, actual: Array, *, on_a_step: bool = False) -> Array:
        """The elements at which the library itself may give what the compiler gave.

        Args:
            index: Index of the output.
            expected: The library's.
            actual: The compiler's.
            on_a_step: Whether inputs that lie exactly on a step count as well.
        """
        nothing = np.zeros(expected.shape, dtype=bool)
        base, still, near = (_outputs(each, index, expected.shape) for each in ([self._base], self._still, self._near))
        if not base or not still or not near:
            return nothing
        stable, moves, meets, pole = ~nothing, nothing.copy(), nothing.copy(), nothing.copy()
        exact = tolerance_of(dtype_name(expected.dtype)) is None
        reach, shift = np.zeros(expected.shape), np.zeros(expected.shape)
        for other in still:
            stable &= on_a_step | ~differ(base[0], other)
            shift = np.maximum(shift, _step(base[0], other))
        for other in (base[0], *near):
            moves |= _away(base[0], other)
            meets |= ~differ(other.astype(expected.dtype) if exact else other, actual)
            reach = np.fmax(reach, _distance(base[0], other))
            pole |= _beside_a_pole(base[0], other)
        stable |= np.isfinite(shift) & (shift <= _SLOPE * reach)
        if exact:
            for draw in range(_DRAWS, _MOST_DRAWS):
                if not (stable & moves & ~meets & (expected != actual)).any():
                    break
                more = _outputs([self._draw(draw)], index, expected.shape)
                meets |= ~differ(more[0].astype(expected.dtype), actual) if more else nothing
            return stable & moves & meets
        with np.errstate(all="ignore"):
            return stable & moves & (meets | (_distance(base[0], actual) <= _SLOPES * reach) | (pole & np.isinf(actual)))


def _shapes(results: Sequence[Outputs | None], index: int) -> set[tuple[int, ...]]:
    """The shapes that the output *index* has, where it is there."""
    return {as_array(each[index]).shape for each in results if each is not None and index < len(each) and is_array(each[index])}


def _distance(one: Array, other: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.abs(other.astype(np.complex128) - one.astype(np.complex128))


def _step(one: Array, other: Array) -> Array:
    """The distance, which is infinite between a number and none."""
    distance = _distance(one, other)
    same = (one == other) | ((one != one) & (other != other))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def _away(base: Array, other: Array) -> Array:
    """Where the neighbourhood moves by at least a quarter of the tolerance of float32."""
    tolerance = tolerance_of("float32")
    assert tolerance is not None
    return np.asarray(base != other) if base.dtype.kind in "iub" else apart(base, other, tolerance, 0.25)


def _beside_a_pole(base: Array, other: Array) -> Array:
    """Where two results are very large numbers of different signs: infinity lies between them."""
    if base.dtype.kind != "f" or other.dtype.kind != "f":
        return np.zeros(base.shape, dtype=bool)
    one, two = base.astype(np.float64), other.astype(np.float64)
    return (np.sign(one) != np.sign(two)) & (np.abs(one) > _LARGE) & (np.abs(two) > _LARGE)


def _outputs(results: Sequence[Outputs | None], index: int, shape: tuple[int, ...]) -> list[Array]:
    """The output *index* of every result, where each has it as an array of *shape*; else nothing."""
    found: list[Array] = []
    for result in results:
        if result is None or index >= len(result) or not is_array(result[index]) or as_array(result[index]).shape != shape:
            return []
        found.append(as_array(result[index]))
    return found
