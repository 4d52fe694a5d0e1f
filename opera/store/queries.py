"""Questions to the store that only reports ask. Nothing here writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from opera.store import Workspace
from opera.store.corpus import Extraction


@dataclass(frozen=True)
class Matches:
    """What begins with a prefix, each by its whole identity, at most a handful of each kind."""

    findings: tuple[str, ...]
    tests: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True)
class NewestResult:
    """What the newest test of an instance came to on a subject, by one route and input form."""

    api: str
    compiler: str
    frontend: str
    route: str
    instance: str
    verdict: str
    exporter: str | None


def newest_results(workspace: Workspace, compiler: str | None = None, library: str | None = None) -> Iterator[NewestResult]:
    """The newest result of every instance, subject, route and input form, of one compiler and one library where given."""
    rows = workspace.database.execute(
        "SELECT api, compiler, frontend, route, instance, verdict, exporter FROM (SELECT api, compiler, frontend, route, instance, verdict,"
        " json_extract(detail, '$.exporter') AS exporter, row_number() OVER (PARTITION BY instance, compiler, frontend, route, form"
        " ORDER BY finished DESC, test) AS age FROM results JOIN instances ON id = instance"
        " WHERE (?1 IS NULL OR compiler = ?1) AND (?2 IS NULL OR library = ?2)) WHERE age = 1",
        (compiler, library),
    )
    return (NewestResult(*row) for row in rows)


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

    findings = dict.fromkeys((*select("fingerprint", "results"), *select("finding", "reductions")))
    return Matches(tuple(findings), select("test", "results"), select("id", "instances"))


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
