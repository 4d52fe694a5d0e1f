"""The ids under which findings were reported. An id names the finding that has the test for which the id was first given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from opera.store.database import Workspace


@dataclass(frozen=True)
class ReportedId:
    """An id of a finding, and the failing test that this id follows."""

    id: str
    test: str


class FindingIds:
    """The ids of the findings of an open workspace. A campaign gives each new fingerprint as an id; triage adds ids of split-off parts."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def all(self) -> list[ReportedId]:
        """All ids, the oldest first."""
        rows = self._workspace.database.execute("SELECT id, test FROM finding_ids ORDER BY since, id")
        return [ReportedId(*row) for row in rows]

    def keep(self, ids: Iterable[ReportedId]) -> None:
        """Stores ids; an id that is there keeps its test."""
        with self._workspace.transaction() as database:
            database.executemany("INSERT OR IGNORE INTO finding_ids (id, test) VALUES (?, ?)", ((each.id, each.test) for each in ids))
