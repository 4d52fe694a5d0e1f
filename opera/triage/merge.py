"""Which findings of a subject have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from opera.oracles.verdict import Verdict
from opera.reduction.trigger import Trigger, trigger_of
from opera.store import StoredResult
from opera.store.reductions import Merge, StoredReduction
from opera.triage.extremes import cut_off_at, instead_of_nan, overflows
from opera.triage.fingerprint import ELEMENTS, Symptom, symptom_of
from opera.triage.outline import DTYPE, anonymous_settings, families, input_forms, outline, settings
from opera.triage.similarity import Origin, origin_of

_QUOTED = 90
_MOST_MESSAGES = 3
"""Messages with which one place may raise and still tell something."""
_DTYPE, _JOINT = "dtype", "+"
_ORIGIN, _PLACE = "origin", "place"
_BETWEEN = frozenset({_ORIGIN, _PLACE})
"""What findings of one fingerprint share anyway, so that it puts none of them together again."""


@dataclass(frozen=True)
class Candidate:
    """A finding that may have the root cause of another.

    Attributes:
        finding: Its identity.
        fingerprint: Of its failing tests.
        representative: One of them.
        reduction: What reducing it came to.
    """

    finding: str
    fingerprint: str
    representative: StoredResult
    reduction: StoredReduction | None

    @property
    def symptom(self) -> Symptom:
        """What its failure shows."""
        result = self.representative
        subject = str(result.detail.get("exporter", f"{result.compiler}/{result.frontend}"))
        return symptom_of(subject, result.verdict, result.stage, result.converter or "", result.detail)

    @property
    def trigger(self) -> str:
        """The core of its trigger, tensors by place; empty where none is known, or everything triggers it."""
        return "" if self.cause is None else self.cause.anonymous()

    @property
    def cause(self) -> Trigger | None:
        """Its trigger; None where none is known."""
        return None if self.reduction is None or self.reduction.trigger is None else trigger_of(self.reduction.trigger)


def merges(candidates: Sequence[Candidate], project_of: Callable[[str], Sequence[str]]) -> list[Merge]:
    """The pairs of *candidates* that have one root cause, each with the reason.

    Args:
        candidates: In the order in which they were found; of several that belong together, the first is paired with each other.
        project_of: Prefixes of modules and parts of paths that belong to a compiler.
    """
    found: list[Merge] = []
    first: dict[tuple[object, ...], Candidate] = {}
    origins = [_origin(candidate, project_of) for candidate in candidates]
    scene = _scene(origins)
    for candidate, origin in zip(candidates, origins, strict=True):
        joined: set[str] = set()
        for key, reason in _grounds(candidate, origin, scene):
            other = first.setdefault(key, candidate)
            if other is candidate or other.finding in joined:
                continue
            if other.fingerprint != candidate.fingerprint or key[0] not in _BETWEEN:
                joined.add(other.finding)
                found.append(Merge(other.finding, candidate.finding, reason))
    found += _components(candidates)
    for alike in _wrong_alike(candidates).values():
        found += _parts(alike)
    return [*found, *_leftovers(candidates)]


def _wrong_alike(candidates: Sequence[Candidate]) -> dict[tuple[object, ...], list[Candidate]]:
    """The wrong elements of each converter of each subject."""
    found: dict[tuple[object, ...], list[Candidate]] = defaultdict(list)
    for each in candidates:
        symptom = each.symptom
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind in ELEMENTS:
            found[symptom.subject, symptom.converter, _difference(each)].append(each)
    return found


def _parts(alike: Sequence[Candidate]) -> Iterator[Merge]:
    """What needs certain settings and more is what these settings alone do, unless parts of it do different things."""
    triggers = [(each, frozenset(each.cause.core())) for each in alike if each.cause is not None and settings(each.cause)]
    for other, more in triggers:
        parts = sorted(((one, core) for one, core in triggers if core < more), key=lambda each: len(each[1]))
        if parts and all(parts[0][1] <= core for _, core in parts):
            one = parts[0][0]
            yield Merge(one.finding, other.finding, f"same converter, wrong elements, and {one.trigger} is part of the other's trigger")


def _components(candidates: Sequence[Candidate]) -> list[Merge]:
    """A wrong dtype of an operator that became several is that of one of them, where that one gives the same wrong dtype by itself."""
    wrong = [each for each in candidates if each.symptom.verdict is Verdict.INCONSISTENT and each.symptom.kind == _DTYPE]
    alone: dict[Symptom, Candidate] = {}
    for each in wrong:
        if _JOINT not in each.symptom.converter:
            alone.setdefault(each.symptom, each)
    found: list[Merge] = []
    for each in wrong:
        parts = each.symptom.converter.split(_JOINT) if _JOINT in each.symptom.converter else []
        other = next((alone[one] for part in parts if (one := replace(each.symptom, converter=part)) in alone), None)
        if other is not None:
            found.append(
                Merge(other.finding, each.finding, f"same wrong dtype ({each.symptom.message}) of {other.symptom.converter} by itself")
            )
    return found


def _leftovers(candidates: Sequence[Candidate]) -> list[Merge]:
    """Tests that no reduction covers go to the finding of their fingerprint that was reduced first: nothing else is known of them."""
    first: dict[str, str] = {}
    for each in candidates:
        if each.finding != each.fingerprint:
            first.setdefault(each.fingerprint, each.finding)
    return [
        Merge(first[each.fingerprint], each.finding, "same fingerprint; not reduced by itself")
        for each in candidates
        if each.finding == each.fingerprint and each.fingerprint in first
    ]


def _origin(candidate: Candidate, project_of: Callable[[str], Sequence[str]]) -> Origin | None:
    result = candidate.representative
    if result.verdict is not Verdict.CRASH or "failure" not in result.detail:
        return None
    failure = cast("Mapping[str, Any]", result.detail["failure"])
    project = () if "exporter" in result.detail else project_of(result.compiler)
    return origin_of(failure, project)


@dataclass(frozen=True)
class _Scene:
    """What all failures together say of the places where they were raised.

    Attributes:
        dispatchers: Functions of importers that call converters.
        common: Places that raise with many messages: a way into the compiler, where nothing of it is known.
    """

    dispatchers: Container[str]
    common: Container[str]


def _scene(origins: Sequence[Origin | None]) -> _Scene:
    raising: dict[str, set[str]] = defaultdict(set)
    dispatchers: set[str] = set()
    for origin in origins:
        if origin is not None:
            dispatchers.update(origin.callers)
            raising[origin.raised].add(origin.gist)
    common = {place for place, gists in raising.items() if not place or len(gists) > _MOST_MESSAGES}
    return _Scene(dispatchers, common)


Ground = tuple[tuple[object, ...], str]
"""What two findings must share to be one, and the reason that is then given."""


def _grounds(candidate: Candidate, origin: Origin | None, scene: _Scene) -> Iterator[Ground]:
    if candidate.cause is not None:
        yield from _by_trigger(candidate, candidate.cause)
        if candidate.symptom.verdict is Verdict.CRASH:
            yield from _of_one_exception(candidate, candidate.cause)
        elif candidate.symptom.verdict is Verdict.INCONSISTENT:
            yield from _of_wrong_results(candidate, candidate.cause)
    if origin is not None:
        yield from _by_origin(candidate.symptom, origin, scene)


def _by_trigger(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    symptom = candidate.symptom
    what = "an exception" if symptom.verdict is Verdict.CRASH else _difference(candidate)
    key = (symptom.subject, symptom.verdict, symptom.stage, symptom.converter)
    alike = (candidate.fingerprint, what)
    if candidate.trigger:
        yield ("trigger", *key, what, candidate.trigger), f"same converter {symptom.converter}, {what}, same trigger ({candidate.trigger})"
    shared = outline(cause)
    if not shared:
        yield ("seen", *alike), "same fingerprint, and nothing but that it can be seen"
    elif symptom.verdict is Verdict.CRASH and DTYPE in shared:
        yield ("outline", *alike, shared), f"same fingerprint, triggers that differ only in a value ({candidate.trigger})"
    else:
        what = symptom.kind if symptom.verdict is Verdict.CRASH else what
        reason = f"same converter {symptom.converter}, {what}, triggers that differ only in a value ({candidate.trigger})"
        yield ("outline", *key, what, shared), reason
    which = settings(cause)
    matter = f"the same settings matter ({', '.join(which)})" if which else "no setting matters"
    yield ("settings", *alike, which), f"same fingerprint, {matter}"
    for word, said in families(cause):
        yield ("family", *alike, word, said), f"same fingerprint, parameters called {word} matter in the same way"


def _difference(candidate: Candidate) -> str:
    """The kind of difference in words; wrong elements are one kind, but for those at the end of a dtype's range."""
    if candidate.symptom.kind not in ELEMENTS:
        return candidate.symptom.kind
    if overflows(_wrong_element(candidate)):
        return "no saturation"
    return "wrong elements" if _cut_off(candidate) is None else "infinities cut off"


def _cut_off(candidate: Candidate) -> tuple[str, str] | None:
    """Between which dtypes an infinity was cut off."""
    properties = () if candidate.cause is None else candidate.cause.properties
    return cut_off_at(_wrong_element(candidate), (str(each.value) for each in properties if each.kind in ("dtype", "type")))


def _wrong_element(candidate: Candidate) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", candidate.representative.detail.get("difference", {}))


def _of_one_exception(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    """One exception with one message, raised at one place in one converter, is one bug of an operator, whatever leads to it."""
    yield ("exception", candidate.fingerprint, cause.api), f"same fingerprint, same operator {cause.api}"
    alike = anonymous_settings(cause)
    if alike:
        yield ("setting", candidate.fingerprint, alike), f"same fingerprint, parameters of the same value ({candidate.trigger})"


def _of_wrong_results(candidate: Candidate, cause: Trigger) -> Iterator[Ground]:
    symptom = candidate.symptom
    if symptom.kind == _DTYPE:
        key = (_DTYPE, symptom.subject, symptom.converter, settings(cause))
        yield key, f"same converter {symptom.converter}, a wrong dtype whatever the dtypes"
    difference = _wrong_element(candidate)
    cut = _cut_off(candidate)
    if cut is not None:
        yield ("cut-off", symptom.subject, cut), f"infinities of {cut[0]} become the largest {cut[1]}, whatever the operator"
    if overflows(difference):
        yield ("overflow", symptom.subject), "a conversion beyond the range of a narrow type does not saturate, whatever the operator"
    stray = instead_of_nan(difference)
    if stray is not None:
        yield ("no-nan", symptom.subject, *stray), f"a NaN of {stray[0]} becomes {stray[1]}, whatever the operator"
    if symptom.kind not in ELEMENTS:
        yield ("result", candidate.fingerprint, input_forms(cause)), f"same fingerprint, the {symptom.kind} of results"
    if not cause.properties:
        key = ("always", symptom.subject, symptom.converter, cause.api)
        yield key, f"same converter {symptom.converter}, a wrong result of any call of {cause.api}"


def _by_origin(symptom: Symptom, origin: Origin, scene: _Scene) -> Iterator[Ground]:
    key = (symptom.subject, symptom.verdict, symptom.stage, symptom.kind)
    if origin.tells:
        anybody = origin.by_entry or (origin.entry and origin.entry not in scene.dispatchers)
        quoted = origin.gist if len(origin.gist) <= _QUOTED else origin.gist[: _QUOTED - 1] + "…"
        raised, entry = (f" {word} {part}" if part else "" for word, part in (("at", origin.raised), ("in", origin.entry)))
        yield (_ORIGIN, *key, origin, None if anybody else symptom.converter), f'same message "{quoted}"{raised}{entry}'
    if origin.raised not in scene.common:
        reason = f"same converter {symptom.converter}, same {symptom.kind} at {origin.raised}"
        yield (_PLACE, *key, symptom.converter, origin.raised), reason
