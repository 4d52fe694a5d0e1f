"""Which findings of a subject have one root cause, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from opera.oracles.fingerprint import ELEMENTS, Symptom
from opera.oracles.verdict import Verdict
from opera.store.reductions import GONE, Merge
from opera.triage.candidate import Candidate
from opera.triage.causes import unions
from opera.triage.grounds import BETWEEN, LATER, Scene, grounds, scene_of
from opera.triage.outline import has_parameters, is_of_integers, settings
from opera.triage.reduction.trigger import Trigger
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
    found += _unstable(candidates)
    found += _promotions(candidates, origins)
    found += _placeholders(candidates)
    for alike in _wrong_alike(candidates).values():
        found += _parts(alike)
    found += _blamed_otherwise(candidates)
    found += _any_call(candidates, origins, scene, unions([each.finding for each in candidates], found))
    return [*found, *_leftovers(candidates)]


def _wrong_alike(candidates: Sequence[Candidate]) -> dict[tuple[object, ...], list[Candidate]]:
    """The wrong elements of each converter of each subject."""
    found: dict[tuple[object, ...], list[Candidate]] = defaultdict(list)
    for each in candidates:
        symptom = each.symptom
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind in ELEMENTS:
            found[symptom.subject, symptom.converter, each.difference].append(each)
    return found


def _parts(alike: Sequence[Candidate]) -> Iterator[Merge]:
    """What needs certain settings and more is what these settings alone do, unless parts of it do different things."""
    triggers = [(each, frozenset(each.cause.core())) for each in alike if each.cause is not None and settings(each.cause)]
    for other, more in triggers:
        parts = sorted(((one, core) for one, core in triggers if core < more), key=lambda each: len(each[1]))
        if parts and all(parts[0][1] <= core for _, core in parts):
            one = parts[0][0]
            reason = f"same converter, {other.difference}, and {one.trigger} is part of the other's trigger"
            yield Merge(one.finding, other.finding, reason)


def _blamed_otherwise(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """One bug may be the exporter's in one test and the compiler's in another: with one converter and parameters that matter to both."""
    known = [
        (each, frozenset(each.cause.core()), each.representative.exporter is not None)
        for each in candidates
        if each.cause is not None and has_parameters(each.cause) and each.symptom.kind in ELEMENTS
    ]
    for one, core, exported in known:
        key = (one.representative.compiler, one.symptom.converter, one.difference)
        partners = [
            other
            for other, more, theirs in known
            if exported and not theirs and (core <= more or more <= core)
            and key == (other.representative.compiler, other.symptom.converter, other.difference)
        ]  # fmt: skip
        if len(partners) == 1:
            yield Merge(one.finding, partners[0].finding, f"same converter {key[1]}, {key[2]}, the exporter at fault or the compiler")


def _placeholders(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """An output after the first that is wrong in any call explains what else is wrong with it, where no setting matters."""
    wrong: dict[tuple[object, ...], list[tuple[Candidate, Trigger]]] = defaultdict(list)
    for each in candidates:
        output = each.wrong_element.get("output")
        if each.cause is not None and isinstance(output, int) and output > 0 and not settings(each.cause):
            wrong[each.symptom.subject, each.symptom.converter, output].append((each, each.cause))
    for (_, converter, output), alike in wrong.items():
        always = next((each for each, cause in alike if not cause.core()), None)
        for other, _ in alike:
            if always is not None and other is not always:
                yield Merge(always.finding, other.finding, f"same converter {converter}, whose output {output} is wrong in any call")


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


def _any_call(candidates: Sequence[Candidate], origins: Sequence[Origin | None], scene: Scene, roots: Mapping[str, str]) -> Iterator[Merge]:
    """A trigger without a property says nothing of why; what is known of the same exception of other operators does, if it is one thing."""
    known: dict[str, set[str]] = defaultdict(set)
    unknown: list[Candidate] = []
    for each, origin in zip(candidates, origins, strict=True):
        if origin is not None and each.cause is not None and origin.tells and origin.raised not in scene.common:
            if each.trigger:
                known[each.fingerprint].add(roots[each.finding])
            else:
                unknown.append(each)
    for each in unknown:
        if len(known[each.fingerprint]) == 1:
            (one,) = known[each.fingerprint]
            yield Merge(one, each.finding, "same fingerprint; what triggers one of them is not known")


def _unstable(candidates: Sequence[Candidate]) -> Iterator[Merge]:
    """Wrong elements that come and go, so that no reduction holds, are read from memory that nobody wrote."""
    reduced = {each.fingerprint for each in candidates if each.cause is not None}
    first: dict[tuple[object, ...], str] = {}
    for each in candidates:
        symptom = each.symptom
        if symptom.kind not in ELEMENTS or each.fingerprint in reduced or each.reduction is None or each.reduction.reason == GONE:
            continue
        other = first.setdefault((symptom.subject, symptom.converter, each.difference), each.finding)
        if other != each.finding:
            yield Merge(other, each.finding, f"same converter {symptom.converter}, {each.difference}, none of which could be reduced")


def _promotions(candidates: Sequence[Candidate], origins: Sequence[Origin | None]) -> Iterator[Merge]:
    """A dtype that the converter should have promoted is a wrong dtype where the compiler goes on, and a crash where it does not.

    A crash in which other converters share is the compiler's own.
    """
    wrong: dict[tuple[object, ...], str] = {}
    crashes: list[tuple[tuple[object, ...], Candidate, tuple[object, ...]]] = []
    converters: dict[tuple[object, ...], set[str]] = defaultdict(set)
    for each, origin in zip(candidates, origins, strict=True):
        symptom = each.symptom
        raised = (symptom.subject, symptom.stage, symptom.kind, origin)
        converters[raised].add(symptom.converter)
        if each.cause is None or not is_of_integers(each.cause):
            continue
        key = (symptom.subject, symptom.converter, frozenset(part.name for part in each.cause.core()))
        if symptom.verdict is Verdict.INCONSISTENT and symptom.kind == _DTYPE:
            wrong.setdefault(key, each.finding)
        elif symptom.verdict is Verdict.CRASH and symptom.stage in LATER:
            crashes.append((key, each, raised))
    for key, crash, raised in crashes:
        if key in wrong and converters[raised] == {crash.symptom.converter}:
            yield Merge(wrong[key], crash.finding, f"same converter {key[1]}, a dtype that is not promoted")


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
