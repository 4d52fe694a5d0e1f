"""Which findings of a subject have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from opera.oracles.verdict import Verdict
from opera.reduction.trigger import trigger_of
from opera.store import StoredResult
from opera.store.reductions import Merge, StoredReduction
from opera.triage.causes import unions
from opera.triage.fingerprint import ELEMENTS, Symptom, symptom_of
from opera.triage.similarity import Origin, origin_of

_QUOTED = 90
_EXACT = frozenset({"is", "dtype", "dtype-class"})
_DTYPE, _JOINT = "dtype", "+"
_VALUES = "values"
"""What two findings of one fingerprint share whose triggers differ in nothing but a value: a dtype, a mode."""


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


def merges(candidates: Sequence[Candidate], project_of: Callable[[str], Sequence[str]]) -> list[Merge]:
    """The pairs of *candidates* that have one root cause, each with the reason.

    Args:
        candidates: In the order in which they were found; of several that belong together, the first is paired with each other.
        project_of: Prefixes of modules and parts of paths that belong to a compiler.
    """
    found: list[Merge] = []
    first: dict[tuple[object, ...], Candidate] = {}
    for candidate in candidates:
        origin = _origin(candidate, project_of)
        for key, reason in _grounds(candidate, origin):
            other = first.setdefault(key, candidate)
            if other is not candidate and (other.fingerprint != candidate.fingerprint or key[0] == _VALUES):
                found.append(Merge(other.finding, candidate.finding, reason))
                break
    found += _components(candidates)
    return [*found, *_leftovers(candidates, found)]


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


def _leftovers(candidates: Sequence[Candidate], found: Sequence[Merge]) -> list[Merge]:
    """Tests that no reduction covers go to the finding of their fingerprint, where several reductions came to the same one."""
    roots = unions([each.finding for each in candidates], found)
    reduced: dict[str, list[str]] = defaultdict(list)
    for each in candidates:
        if each.finding != each.fingerprint:
            reduced[each.fingerprint].append(each.finding)
    return [
        Merge(reduced[each.fingerprint][0], each.finding, "same fingerprint, of which every reduced test has one root cause")
        for each in candidates
        if each.finding == each.fingerprint
        and len(reduced[each.fingerprint]) > 1
        and len({roots[finding] for finding in reduced[each.fingerprint]}) == 1
    ]


def _origin(candidate: Candidate, project_of: Callable[[str], Sequence[str]]) -> Origin | None:
    result = candidate.representative
    if result.verdict is not Verdict.CRASH or "failure" not in result.detail:
        return None
    failure = cast("Mapping[str, Any]", result.detail["failure"])
    project = () if "exporter" in result.detail else project_of(result.compiler)
    return origin_of(failure, project)


def _grounds(candidate: Candidate, origin: Origin | None) -> list[tuple[tuple[object, ...], str]]:
    """What two findings must share to be one, each with the reason that is then given."""
    symptom = candidate.symptom
    grounds: list[tuple[tuple[object, ...], str]] = []
    if candidate.trigger:
        kind = "wrong elements" if symptom.kind in ELEMENTS else symptom.kind
        key = ("trigger", symptom.subject, symptom.verdict, symptom.stage, kind, symptom.converter, candidate.trigger)
        grounds.append((key, f"same converter {symptom.converter}, same {kind}, same trigger ({candidate.trigger})"))
    if candidate.outline is not None:
        key = (_VALUES, candidate.fingerprint, candidate.outline)
        what = f"triggers that differ only in a value ({candidate.trigger})" if candidate.outline else "and nothing but that it can be seen"
        grounds.append((key, f"same fingerprint, {what}"))
    if origin is not None and origin.tells:
        key = ("origin", symptom.subject, symptom.verdict, symptom.stage, symptom.kind, origin)
        quoted = origin.gist if len(origin.gist) <= _QUOTED else origin.gist[: _QUOTED - 1] + "…"
        raised, entry = (f" {word} {part}" if part else "" for word, part in (("at", origin.raised), ("in", origin.entry)))
        grounds.append((key, f'same message "{quoted}"{raised}{entry}'))
    return grounds
