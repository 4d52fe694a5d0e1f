"""Assigns failing tests to findings: by fingerprint, split by the triggers of reductions, merged by root cause; and gives findings ids."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opera.instance import Instance
from opera.store import StoredResult
from opera.store.finding_ids import ReportedId
from opera.store.reductions import Merge, StoredReduction
from opera.triage.reduction.trigger import Trigger, trigger_of

InstanceOf = Callable[[str], Instance | None]
"""The instance of a hash; None where it or its data are gone."""


def finding_id(fingerprint: str, trigger: Trigger) -> str:
    """The identity of the finding that *trigger* splits off *fingerprint*: 16 hexadecimal digits."""
    parts = ["finding", fingerprint, trigger.text()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Causes:
    """The knowledge of triage about root causes.

    Attributes:
        reductions: The oldest first.
        assignments: Finding by test.
        merges: Pairs with one root cause, and pairs that must stay apart.
    """

    reductions: Sequence[StoredReduction] = ()
    assignments: Mapping[str, str] = field(default_factory=dict[str, str])
    merges: Sequence[Merge] = ()

    def split(self, results: Iterable[StoredResult], instance_of: InstanceOf) -> dict[str, list[StoredResult]]:
        """Failing tests by finding, nothing merged."""
        by_fingerprint: dict[str, list[tuple[StoredReduction, Trigger]]] = defaultdict(list)
        for each in self.reductions:
            if each.trigger is not None:
                by_fingerprint[each.fingerprint].append((each, trigger_of(each.trigger)))
        found: dict[str, list[StoredResult]] = defaultdict(list)
        for result in results:
            if result.fingerprint is not None:
                found[self._finding(result, by_fingerprint.get(result.fingerprint, []), instance_of)].append(result)
        return found

    def _finding(self, result: StoredResult, known: list[tuple[StoredReduction, Trigger]], instance_of: InstanceOf) -> str:
        assert result.fingerprint is not None
        assigned = self.assignments.get(result.test)
        for reduction, trigger in known:
            if reduction.test == result.test or reduction.finding == assigned or (not trigger.properties and assigned is None):
                return reduction.finding
        instance = instance_of(result.instance) if known and assigned is None else None
        if instance is not None:
            for reduction, trigger in known:
                if trigger.holds(instance, result.form):
                    return reduction.finding
        return result.fingerprint

    def roots(self, findings: Iterable[str]) -> dict[str, str]:
        """The finding that each of *findings* is shown under: the one that was reduced first of those with one root cause."""
        order = {finding: -index for index, finding in enumerate(reversed([each.finding for each in self.reductions]))}
        return unions(sorted(findings, key=lambda each: (order.get(each, 1), each)), self.merges)

    def of(self, finding: str) -> StoredReduction | None:
        """The newest reduction of *finding* that succeeded, else the newest that did not; None where nothing was tried."""
        tried = [each for each in self.reductions if each.finding == finding]
        done = [each for each in tried if each.reason is None]
        return (done or tried or [None])[-1]

    def reasons(self, names: Mapping[str, str]) -> tuple[str, ...]:
        """Why the keys of *names* are one: a line for each merged pair whose two names differ."""
        pairs = [each for each in self.merges if not each.apart and each.finding in names and each.other in names]
        return tuple(
            f"{names[each.finding]} and {names[each.other]}: {each.reason}" for each in pairs if names[each.finding] != names[each.other]
        )


def unions(ordered: Sequence[str], merges: Iterable[Merge]) -> dict[str, str]:
    """The first of each set of *ordered* that *merges* join; no set holds a pair that must stay apart."""
    place = {finding: number for number, finding in enumerate(ordered)}
    members = {finding: [finding] for finding in ordered}
    root = {finding: finding for finding in ordered}
    known = [each for each in merges if each.finding in place and each.other in place]
    apart = {frozenset((each.finding, each.other)) for each in known if each.apart}
    joined = sorted((each for each in known if not each.apart), key=lambda each: sorted((place[each.finding], place[each.other])))
    for each in joined:
        one, other = sorted((root[each.finding], root[each.other]), key=place.__getitem__)
        if one == other or any(frozenset((a, b)) in apart for a in members[one] for b in members[other]):
            continue
        for member in members.pop(other):
            root[member] = one
            members[one].append(member)
    return root


def ids_of(parts: Mapping[str, Sequence[StoredResult]], reported: Iterable[ReportedId]) -> dict[str, str]:
    """The part that each id names, the oldest id first. An id follows one failing test, so that splits and merges change no id.

    Every fingerprint is an id. An id whose test no longer fails in the same way follows another test of the fingerprint.

    Args:
        parts: Failing tests by part: what one reduction covers, or what none covers of a fingerprint.
        reported: The ids of the workspace, the oldest first.
    """
    part_of = {test.test: part for part, tests in parts.items() for test in tests}
    fingerprint_of = {test.test: str(test.fingerprint) for tests in parts.values() for test in tests}
    first: dict[str, str] = {}
    for test in sorted(fingerprint_of):
        first.setdefault(fingerprint_of[test], test)
    named = {
        each.id: part_of[each.test]
        for each in reported
        if each.test in part_of and (each.id not in first or fingerprint_of[each.test] == each.id)
    }
    return {**named, **{fingerprint: part_of[test] for fingerprint, test in sorted(first.items()) if fingerprint not in named}}


def new_id(part: str, tests: Iterable[StoredResult], taken: Mapping[str, str]) -> str:
    """The id of a finding that no id names: its first part's, unless this names another finding."""
    if part not in taken:
        return part
    return hashlib.sha256(json.dumps(["finding", part, min(test.test for test in tests)]).encode()).hexdigest()[:16]
