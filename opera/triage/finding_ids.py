"""Decides under which ids a finding is known. An id follows one failing test, so that splits and merges change no id."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from opera.store import StoredResult
from opera.store.finding_ids import ReportedId


def ids_of(parts: Mapping[str, Sequence[StoredResult]], reported: Iterable[ReportedId]) -> dict[str, str]:
    """The part that each id names, the oldest id first.

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
