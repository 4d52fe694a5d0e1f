"""Which findings of a subject have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from opera.oracles.verdict import Verdict
from opera.store.reductions import Merge
from opera.triage.candidate import Candidate
from opera.triage.fingerprint import ELEMENTS, Symptom
from opera.triage.grounds import BETWEEN, LATER, Scene, grounds, scene_of
from opera.triage.outline import DTYPE, outline, settings
from opera.triage.similarity import Origin

_DTYPE, _JOINT = "dtype", "+"


def merges(candidates: Sequence[Candidate], project_of: Callable[[str], Sequence[str]]) -> list[Merge]:
    """The pairs of *candidates* that have one root cause, each with the reason.

    Args:
        candidates: In the order in which they were found; of several that belong together, the first is paired with each other.
        project_of: Prefixes of modules and parts of paths that belong to a compiler.
    """
    found: list[Merge] = []
    first: dict[tuple[object, ...], Candidate] = {}
    origins = [candidate.origin(project_of) for candidate in candidates]
    scene = scene_of(origins)
    for candidate, origin in zip(candidates, origins, strict=True):
        joined: set[str] = set()
        for key, reason in grounds(candidate, origin, scene):
            other = first.setdefault(key, candidate)
            if other is candidate or other.finding in joined:
                continue
            if other.fingerprint != candidate.fingerprint or key[0] not in BETWEEN:
                joined.add(other.finding)
                found.append(Merge(other.finding, candidate.finding, reason))
    found += _components(candidates)
    found += _any_call(candidates, origins, scene)
    found += _unstable(candidates)
    found += _promotions(candidates)
    for alike in _wrong_alike(candidates).values():
        found += _parts(alike)
    return [*found, *_leftovers(candidates)]


def _wrong_alike(candidates: Sequence[Candidate]) -> dict[tuple[object, ...], list[Candidate]]:
    """The wrong elements of each converter, whoever is at fault: one bug may be the exporter's in one test and nobody's in another."""
    found: dict[tuple[object, ...], list[Candidate]] = defaultdict(list)
    for each in candidates:
        symptom = each.symptom
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind in ELEMENTS:
            result = each.representative
            found[result.compiler, result.frontend, symptom.converter, each.difference].append(each)
    return found


def _parts(alike: Sequence[Candidate]) -> Iterator[Merge]:
    """What needs certain settings and more is what these settings alone do, unless parts of it do different things."""
    triggers = [(each, frozenset(each.cause.core())) for each in alike if each.cause is not None and settings(each.cause)]
    for place, (other, more) in enumerate(triggers):
        earlier = [each for each in triggers[:place] if each[1] == more]
        parts = sorted([each for each in triggers if each[1] < more] or earlier, key=lambda each: len(each[1]))
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


def _any_call(candidates: Sequence[Candidate], origins: Sequence[Origin | None], scene: Scene) -> Iterator[Merge]:
    """A trigger without a property says nothing of why; what is known of the same exception of another operator does."""
    known: dict[str, str] = {}
    unknown: list[Candidate] = []
    for each, origin in zip(candidates, origins, strict=True):
        if origin is not None and each.cause is not None and origin.tells and origin.raised not in scene.common:
            if each.trigger:
                known.setdefault(each.fingerprint, each.finding)
            else:
                unknown.append(each)
    for each in unknown:
        if each.fingerprint in known:
            yield Merge(known[each.fingerprint], each.finding, "same fingerprint; what triggers one of them is not known")


def _unstable(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """Wrong elements that come and go, so that no reduction holds, are read from memory that nobody wrote."""
    first: dict[tuple[str, str], str] = {}
    for each in candidates:
        symptom = each.symptom
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind in ELEMENTS and each.reduction is not None and each.cause is None:
            other = first.setdefault((symptom.subject, symptom.converter), each.finding)
            if other != each.finding:
                yield Merge(other, each.finding, f"same converter {symptom.converter}, wrong elements, neither could be reduced")


def _promotions(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """A dtype that the converter should have promoted is a wrong dtype where the compiler goes on, and a crash where it does not."""
    wrong: dict[tuple[object, ...], str] = {}
    crashes: list[tuple[tuple[object, ...], str]] = []
    for each in candidates:
        symptom = each.symptom
        if each.cause is None or {DTYPE} != set(outline(each.cause)):
            continue
        key = (symptom.subject, symptom.converter, frozenset(part.name for part in each.cause.core()))
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind == _DTYPE:
            wrong.setdefault(key, each.finding)
        elif symptom.verdict is Verdict.CRASH and symptom.stage in LATER:
            crashes.append((key, each.finding))
    for key, crash in crashes:
        if key in wrong:
            yield Merge(wrong[key], crash, f"same converter {key[1]}, a dtype that is not promoted")


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
