"""Reductions of failing tests, and which findings have one root cause."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from opera.instance import Instance, decode_instance
from opera.store.database import Workspace
from opera.store.rows import ReductionFacts, TriggerFacts
from opera.untrusted import Document, from_json, inflated

GONE = "its instance, or data of it, is gone"
"""The reason of what could not even be tried."""


@dataclass(frozen=True)
class StoredReduction:
    """The outcome of the reduction of a failing test.

    Attributes:
        fingerprint: Fingerprint of the failure.
        test: The failing test that was reduced.
        finding: Identity of the finding: the fingerprint itself where there is no reduction.
        reason: The reason for a missing reduction; None for a reduction.
        document: The reduced instance, as instance/1 with all its data.
        trigger: The document of the trigger.
        detail: How it went.
    """

    fingerprint: str
    test: str
    finding: str
    reason: str | None = None
    document: Mapping[str, object] | None = None
    trigger: TriggerFacts | None = None
    detail: ReductionFacts = field(default_factory=ReductionFacts)

    def instance(self) -> Instance:
        """The reduced instance, where there is one."""
        assert self.document is not None
        return decode_instance(self.document)


@dataclass(frozen=True)
class Merge:
    """Two findings that have one root cause, and why; with *apart*, that they have not, because a person says so."""

    finding: str
    other: str
    reason: str
    apart: bool = False


class Reductions:
    """The reductions of an open workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._database = workspace.database
        self._places: dict[tuple[str, str], int] = {}

    def all(self) -> list[StoredReduction]:
        """All of them, the oldest first."""
        rows = self._database.execute(
            "SELECT fingerprint, test, finding, reason, instance, trigger, detail FROM reductions ORDER BY number"
        ).fetchall()
        return [
            StoredReduction(
                *row[:4],
                document=None if row[4] is None else from_json(inflated(row[4]), Document),
                trigger=None if row[5] is None else from_json(row[5], TriggerFacts),
                detail=from_json(row[6], ReductionFacts),
            )
            for row in rows
        ]

    def keep(self, reduction: StoredReduction) -> None:
        """Keeps a reduction in place of an earlier one of the same test, also of one that was forgotten a moment ago."""
        document = None if reduction.document is None else zlib.compress(json.dumps(reduction.document).encode())
        place = self._places.pop((reduction.fingerprint, reduction.test), None)
        with self._workspace.transaction() as database:
            if place is None:
                (last,) = database.execute("SELECT coalesce(max(number), 0) FROM reductions").fetchone()
                place = 1 + max(last, *self._places.values(), 0)
            database.execute(
                "INSERT INTO reductions (number, fingerprint, test, finding, reason, instance, trigger, detail)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (fingerprint, test) DO UPDATE SET finding = excluded.finding, reason = excluded.reason,"
                " instance = excluded.instance, trigger = excluded.trigger, detail = excluded.detail",
                (
                    place,
                    reduction.fingerprint,
                    reduction.test,
                    reduction.finding,
                    reduction.reason,
                    document,
                    None if reduction.trigger is None else json.dumps(reduction.trigger),
                    json.dumps(reduction.detail),
                ),
            )

    def forget(self, fingerprints: Iterable[str]) -> None:
        """Drops the reductions of *fingerprints* and the assignments of their tests.

        Their places in the order of reductions, which decides under which id findings of one cause are shown, are kept for those that
        come again.
        """
        with self._workspace.transaction() as database:
            for fingerprint in fingerprints:
                rows = database.execute("SELECT fingerprint, test, number FROM reductions WHERE fingerprint = ?", (fingerprint,))
                self._places.update({(each, test): number for each, test, number in rows})
                database.execute("DELETE FROM assignments WHERE test IN (SELECT test FROM results WHERE fingerprint = ?)", (fingerprint,))
                database.execute("DELETE FROM reductions WHERE fingerprint = ?", (fingerprint,))

    def assign(self, tests: Iterable[str], finding: str) -> None:
        """Counts *tests* to *finding*."""
        with self._workspace.transaction() as database:
            database.executemany("INSERT OR REPLACE INTO assignments VALUES (?, ?)", ((test, finding) for test in tests))

    def assignments(self) -> dict[str, str]:
        """The finding of each assigned test."""
        return dict(self._database.execute("SELECT test, finding FROM assignments").fetchall())

    def merges(self) -> list[Merge]:
        """All merges, and all pairs that must stay apart."""
        rows = self._database.execute("SELECT finding, other, reason, apart FROM merges ORDER BY finding, other")
        return [Merge(finding, other, reason, bool(apart)) for finding, other, reason, apart in rows]

    def keep_merges(self, merges: Iterable[Merge]) -> None:
        """Keeps merges in place of earlier ones of the same pairs."""
        with self._workspace.transaction() as database:
            for each in merges:
                pair = sorted((each.finding, each.other))
                database.execute("INSERT OR REPLACE INTO merges VALUES (?, ?, ?, ?)", (*pair, each.reason, each.apart))

    def replace_merges(self, merges: Iterable[Merge]) -> None:
        """Replaces all merges of triage by *merges*, and keeps the decisions of persons."""
        with self._workspace.transaction() as database:
            database.execute("DELETE FROM merges WHERE apart = 0 AND reason != ?", (BY_HAND,))
            for each in merges:
                pair = sorted((each.finding, each.other))
                database.execute("INSERT OR IGNORE INTO merges VALUES (?, ?, ?, ?)", (*pair, each.reason, each.apart))


BY_HAND = "by hand"
"""The reason of what a person has merged or taken apart."""
