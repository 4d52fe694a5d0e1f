"""Questions to the store that only reports ask. Nothing here writes."""

from __future__ import annotations

import json
from dataclasses import dataclass

from opera.store import Workspace
from opera.store.corpus import Extraction


@dataclass(frozen=True)
class Matches:
    """What begins with a prefix, each by its whole identity, at most a handful of each kind."""

    findings: tuple[str, ...]
    tests: tuple[str, ...]
    instances: tuple[str, ...]


def apis(workspace: Workspace) -> dict[str, str]:
    """The API of every instance by its hash."""
    return dict(workspace.database.execute("SELECT id, api FROM instances").fetchall())


def matching(workspace: Workspace, prefix: str, limit: int = 6) -> Matches:
    """Findings, tests and instances whose identity begins with *prefix*, hexadecimal digits."""

    def select(column: str, table: str) -> tuple[str, ...]:
        rows = workspace.database.execute(
            f"SELECT DISTINCT {column} FROM {table} WHERE {column} >= ? AND {column} < ? ORDER BY 1 LIMIT ?", (prefix, prefix + "g", limit)
        )
        return tuple(row[0] for row in rows)

    return Matches(select("fingerprint", "results"), select("test", "results"), select("id", "instances"))


def tests_of(workspace: Workspace, instance: str) -> list[str]:
    """The tests that were made of *instance* and have a result."""
    rows = workspace.database.execute("SELECT test FROM results WHERE instance = ? ORDER BY compiler, frontend, form, test", (instance,))
    return [row[0] for row in rows]


def campaigns_of(workspace: Workspace, test: str) -> list[str]:
    """The campaigns that contain *test*, the oldest first."""
    rows = workspace.database.execute(
        "SELECT id FROM campaigns WHERE EXISTS (SELECT 1 FROM campaign_tests WHERE campaign = id AND test = ?) ORDER BY started, id",
        (test,),
    )
    return [row[0] for row in rows]


def extractions(workspace: Workspace) -> list[Extraction]:
    """The newest extraction of each source, by library and name."""
    rows = workspace.database.execute(
        "SELECT library, source, version, calls, distinct_instances, operators, dropped, seconds FROM extractions ORDER BY library, source"
    )
    return [Extraction(*row[:6], dropped=json.loads(row[6]), seconds=row[7]) for row in rows]
