"""Which findings of a subject have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from opera.oracles.verdict import Verdict
from opera.reduction.trigger import trigger_of
from opera.store import StoredResult
from opera.store.reductions import Merge, StoredReduction
from opera.triage.fingerprint import ELEMENTS, Symptom, symptom_of
from opera.triage.similarity import Origin, origin_of

_QUOTED = 90
_MOST_MESSAGES = 3
"""Messages with which one place may raise and still tell something."""
_EXACT = frozenset({"is", "dtype", "dtype-class"})
_DTYPE, _JOINT = "dtype", "+"
_VALUES = "values"
"""What two findings of one fingerprint share whose triggers differ in nothing but a value: a dtype, a mode."""
_SETTINGS = "settings"
"""What two findings of one fingerprint share whose triggers name the same parameters, whatever the tensors."""
_WITHIN = frozenset({_VALUES, _SETTINGS})
"""Grounds on which findings of one fingerprint are put together again."""


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
        return "" if self.reduction is None or self.reduction.trigger is None else trigger_of(self.reduction.trigger).anonymous()

    @property
    def outline(self) -> str | None:
        """The core of its trigger without the values that properties are compared with; None where no trigger is known."""
        if self.reduction is None or self.reduction.trigger is None:
            return None
        core = trigger_of(self.reduction.trigger).core()
        return "; ".join(f"{each.kind} {each.name} {'' if each.kind in _EXACT else each.value}" for each in core)

    @property
    def settings(self) -> str | None:
        """The part of its trigger that is about no tensor: parameters, input form, outputs; None where no trigger is known."""
        if self.reduction is None or self.reduction.trigger is None:
            return None
        trigger = trigger_of(self.reduction.trigger)
        return ", ".join(each.text() for each in trigger.core() if each.name not in trigger.tensors)


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
            if other.fingerprint != candidate.fingerprint or key[0] in _WITHIN:
                joined.add(other.finding)
                found.append(Merge(other.finding, candidate.finding, reason))
    found += _components(candidates)
    return [*found, *_leftovers(candidates)]


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


def _grounds(candidate: Candidate, origin: Origin | None, scene: _Scene) -> list[tuple[tuple[object, ...], str]]:
    """What two findings must share to be one, each with the reason that is then given."""
    symptom = candidate.symptom
    grounds: list[tuple[tuple[object, ...], str]] = []
    if candidate.trigger:
        kind = "wrong elements" if symptom.kind in ELEMENTS else symptom.kind
        key = ("trigger", symptom.subject, symptom.verdict, symptom.stage, symptom.converter, candidate.trigger)
        what = "an exception" if symptom.verdict is Verdict.CRASH else kind
        grounds.append(((*key, what), f"same converter {symptom.converter}, {what}, same trigger ({candidate.trigger})"))
    if candidate.outline is not None:
        key = (_VALUES, candidate.fingerprint, candidate.outline)
        what = f"triggers that differ only in a value ({candidate.trigger})" if candidate.outline else "and nothing but that it can be seen"
        grounds.append((key, f"same fingerprint, {what}"))
    if candidate.settings is not None:
        key = (_SETTINGS, candidate.fingerprint, candidate.settings)
        grounds.append(
            (key, f"same fingerprint, {f'the same settings matter ({candidate.settings})' if candidate.settings else 'no setting matters'}")
        )
    if candidate.settings is not None and symptom.verdict is Verdict.INCONSISTENT and symptom.kind == _DTYPE:
        key = (_DTYPE, symptom.subject, symptom.converter, candidate.settings)
        grounds.append((key, f"same converter {symptom.converter}, a wrong dtype whatever the dtypes"))
    if origin is not None and origin.tells:
        anybody = origin.by_entry or (origin.entry and origin.entry not in scene.dispatchers)
        key = ("origin", symptom.subject, symptom.verdict, symptom.stage, symptom.kind, origin, None if anybody else symptom.converter)
        quoted = origin.gist if len(origin.gist) <= _QUOTED else origin.gist[: _QUOTED - 1] + "…"
        raised, entry = (f" {word} {part}" if part else "" for word, part in (("at", origin.raised), ("in", origin.entry)))
        grounds.append((key, f'same message "{quoted}"{raised}{entry}'))
    if origin is not None and origin.raised not in scene.common:
        key = ("place", symptom.subject, symptom.verdict, symptom.stage, symptom.kind, symptom.converter, origin.raised)
        grounds.append((key, f"same converter {symptom.converter}, same {symptom.kind} at {origin.raised}"))
    return grounds
