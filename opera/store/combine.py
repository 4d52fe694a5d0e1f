"""Workspaces of several machines as one: instances, results and campaigns, each once, in any order of the workspaces."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from opera.instance import decode_instance, digest
from opera.store.database import DATABASE, Workspace, new_database, open_workspace
from opera.store.rows import TABLES, BadRow, Columns, copy_sound
from opera.untrusted import from_json, inflated, parsed_json
from opera.workers.supervision import working_folder

Identify = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[str, Mapping[str, Any], str | None]]
"""From selection and versions of a campaign to those of the whole that it is a part of: identity, selection, and which part it is."""

_SAME = "verdict, stage, reason, converter, exporter, fingerprint"
"""The parts of a result that must be equal on two machines."""
_RESULT = f"test, instance, compiler, frontend, route, form, seed, {_SAME}, detail, seconds, finished"
_ELSEWHERE = f"test, machine, {_SAME}, detail, seconds, finished"
_CAMPAIGN = "id, compiler, frontend, settings, versions, known, seconds, complete, stopped_by, started"
_PLAIN = {
    "instances": "id, library, api, operator, outcome, document, shapes",
    "occurrences": "instance, source, test, calls, run",
    "extractions": "library, source, version, calls, distinct_instances, operators, dropped, seconds",
    "drops": "library, source, api, reason, calls",
    "machines": "id, document",
    "results_elsewhere": _ELSEWHERE,
    "reductions": "fingerprint, test, finding, reason, instance, trigger, detail",
    "assignments": "test, finding",
    "merges": "finding, other, reason, apart",
}
"""Tables whose rows are the same wherever they come from."""
_TAKEN = frozenset({*_PLAIN, "finding_ids", "rankings", "ranked", "campaigns", "campaign_tests", "results"})
"""Tables that are taken over. What workers have made, and how far an extraction has come, stays where it is."""


@dataclass
class Combined:
    """The outcome of the combination.

    Attributes:
        results: Results that were not there before.
        campaigns: Identities of the campaigns that were added to.
        apart: Tests that another machine had run as well, with a result of its own that is kept apart.
        disagreements: Those of them where the two results differ.
        parts: Per campaign of several parts those that are complete, as `3/8`.
        left_out: Rows that were not taken over, each with its place and what is wrong with it.
    """

    results: int = 0
    campaigns: list[str] = field(default_factory=list[str])
    apart: int = 0
    disagreements: list[str] = field(default_factory=list[str])
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    left_out: list[str] = field(default_factory=list[str])


def combine(target: Workspace, source: Path, identify: Identify, into: Combined) -> None:
    """Adds the workspace in *source* to *target*; all of it or nothing. Rows and files that are not what they should be are left out.

    Args:
        target: Open for writing.
        source: Folder of the other workspace; it is only read.
        identify: Says which campaign a part belongs to.
        into: Is added to.
    """
    database = target.database
    with working_folder("combine", target.scratch) as folder:
        copy = folder / DATABASE
        with open_workspace(source, write=False, foreign=True, checked=False) as other:
            _copy_sound(other, copy, target, into)
        database.execute("ATTACH ? AS other", (str(copy),))
        try:
            with target.transaction():
                for table, columns in _PLAIN.items():
                    database.execute(f"INSERT OR IGNORE INTO {table} ({columns}) SELECT {columns} FROM other.{table}")
                _finding_ids(database)
                _rankings(database)
                _results(database, into)
                for row in database.execute(f"SELECT {_CAMPAIGN} FROM other.campaigns ORDER BY id").fetchall():
                    _campaign(database, row, identify, into)
        finally:
            database.execute("DETACH other")


def _copy_sound(other: Workspace, path: Path, target: Workspace, into: Combined) -> None:
    """Copies the rows of *other* that are sound into a new database, and the files that new instances name into *target*."""
    known = {row[0] for row in target.database.execute("SELECT id FROM instances")}

    def take(table: str, values: Columns) -> BadRow | None:
        return None if table != "instances" or values[0] in known else _take_files(values, other, target)

    with contextlib.closing(new_database(path)) as copy:
        bad = copy_sound(other.database, copy, (table for table in TABLES if table in _TAKEN), take)
        into.left_out += [f"{other.folder}: {each.text}" for each in bad]


def _take_files(values: Columns, other: Workspace, target: Workspace) -> BadRow | None:
    """Copies the files of one instance, which has to be what its identity says; else says what is wrong."""
    key, document = str(values[0]), cast(bytes, values[5])

    def take(name: str) -> bytes:
        data = other.get_blob(name)
        target.put_blob(data)
        return data

    try:
        found = digest(decode_instance(parsed_json(inflated(document)), take))
    except ValueError as error:
        return BadRow("instances", key[:12], str(error))
    return None if found == key else BadRow("instances", key[:12], "it is another instance than its identity says")


def _finding_ids(database: sqlite3.Connection) -> None:
    """Takes ids of findings; an id that both have follows the test for which it was first given."""
    database.execute(
        "INSERT INTO finding_ids (id, test, since) SELECT id, test, since FROM other.finding_ids WHERE true ON CONFLICT (id) DO UPDATE"
        " SET test = excluded.test, since = excluded.since WHERE (excluded.since, excluded.test) < (since, test)"
    )


def _rankings(database: sqlite3.Connection) -> None:
    """Takes rankings of subjects that have none under the same strategy and seed."""
    rows = database.execute(
        "SELECT id, frontend, compiler, strategy, seed, seconds FROM other.rankings o WHERE NOT EXISTS (SELECT 1 FROM rankings r"
        " WHERE (r.frontend, r.compiler, r.strategy, r.seed) = (o.frontend, o.compiler, o.strategy, o.seed)) ORDER BY id"
    ).fetchall()
    for key, *values in rows:
        cursor = database.execute("INSERT INTO rankings (frontend, compiler, strategy, seed, seconds) VALUES (?, ?, ?, ?, ?)", values)
        database.execute(
            "INSERT INTO ranked (ranking, place, instance, score) SELECT ?, place, instance, score FROM other.ranked WHERE ranking = ?",
            (cursor.lastrowid, key),
        )


def _results(database: sqlite3.Connection, into: Combined) -> None:
    """Adds results. Of a test that both have, the result of the machine whose identity comes first counts; the other is kept apart."""
    both = database.execute(
        f"SELECT r.test, r.machine, o.machine, ({_prefixed('r')}) IS NOT ({_prefixed('o')}) FROM results r JOIN other.results o"
        " ON o.test = r.test ORDER BY r.test"
    ).fetchall()
    before = database.total_changes
    database.execute(f"INSERT OR IGNORE INTO results ({_RESULT}, machine) SELECT {_RESULT}, machine FROM other.results")
    into.results += database.total_changes - before
    for test, ours, theirs, differ in both:
        if differ:
            into.disagreements.append(test)
        if theirs == ours:
            if differ:
                _take_earlier(database, test)
            continue
        into.apart += 1
        keep, apart = ("other.", "main.") if (theirs or "") < (ours or "") else ("main.", "other.")
        database.execute(
            f"INSERT OR IGNORE INTO results_elsewhere ({_ELSEWHERE}) SELECT test, ifnull(machine, ''), {_ELSEWHERE.split(', ', 2)[2]}"
            f" FROM {apart}results WHERE test = ?",
            (test,),
        )
        if keep == "other.":
            _take(database, test)


def _take_earlier(database: sqlite3.Connection, test: str) -> None:
    """Two results of one kind of machine that differ: the one that was there first, by its own clock, counts."""
    query = f"SELECT finished, {_SAME} FROM {{}}.results WHERE test = ?"
    ours, theirs = (tuple(str(each) for each in database.execute(query.format(each), (test,)).fetchone()) for each in ("main", "other"))
    if theirs < ours:
        _take(database, test)


def _take(database: sqlite3.Connection, test: str) -> None:
    database.execute(
        f"INSERT OR REPLACE INTO main.results ({_RESULT}, machine) SELECT {_RESULT}, machine FROM other.results WHERE test = ?", (test,)
    )


def _prefixed(table: str) -> str:
    return ", ".join(f"{table}.{name}" for name in _SAME.split(", "))


def _campaign(database: sqlite3.Connection, row: Columns, identify: Identify, into: Combined) -> None:
    """Adds a campaign; of one that is a part, the whole that it belongs to is made of all parts that are there."""
    key, settings, versions = row[0], row[3], row[4]
    _merge_row(database, row)
    _copy_tests(database, key, key)
    whole, selection, part = identify(json.loads(settings), json.loads(versions))
    if part is not None:
        _make_whole(database, whole, selection, _parts(database, whole, identify), into)
        _copy_tests(database, key, whole)
    if whole not in into.campaigns:
        into.campaigns.append(whole)


def _merge_row(database: sqlite3.Connection, row: Columns) -> None:
    """Keeps a campaign's own row; where both have it, with the figures of the one that got further."""
    found = database.execute(f"SELECT {_CAMPAIGN} FROM campaigns WHERE id = ?", (row[0],)).fetchone()
    if found is not None:
        known = _known(found, row)
        further = max(found, row, key=lambda each: (each[7], each[6]))
        row = (*further[:5], known, *further[6:9], min(found[9], row[9]))
    database.execute(f"INSERT OR REPLACE INTO campaigns ({_CAMPAIGN}) VALUES ({', '.join('?' * len(row))})", row)


def _copy_tests(database: sqlite3.Connection, source: str, target: str) -> None:
    database.execute(
        "INSERT OR IGNORE INTO campaign_tests (campaign, test, place) SELECT ?, test, place FROM other.campaign_tests WHERE campaign = ?",
        (target, source),
    )


def _parts(database: sqlite3.Connection, whole: str, identify: Identify) -> dict[str, Columns]:
    """The parts of a campaign that are there, by name."""
    parts: dict[str, Columns] = {}
    for row in database.execute(f"SELECT {_CAMPAIGN} FROM campaigns").fetchall():
        found, _, part = identify(json.loads(row[3]), json.loads(row[4]))
        if found == whole and part is not None:
            parts[part] = row
    return parts


def _make_whole(
    database: sqlite3.Connection, whole: str, selection: Mapping[str, Any], parts: Mapping[str, Columns], into: Combined
) -> None:
    rows = list(parts.values())
    counts = {part.partition("/")[2] for part in parts}
    done = sorted((part for part, row in parts.items() if row[7]), key=lambda part: [int(each) for each in part.split("/")])
    complete = any(sum(part.endswith(f"/{count}") for part in done) == int(count) for count in counts)
    reasons = sorted(str(row[8]) for row in rows if row[8])
    stopped_by = reasons[0] if reasons and not complete else None
    values: Columns = (
        whole,
        rows[0][1],
        rows[0][2],
        json.dumps(selection),
        rows[0][4],
        _known(*rows),
        sum(row[6] for row in rows),
        complete,
        stopped_by,
        min(row[9] for row in rows),
    )
    into.parts[whole] = done
    _merge_row(database, values)


def _known(*rows: Columns) -> str:
    """The failures that the workspaces of a campaign's parts had before, together."""
    known: dict[str, set[str]] = {}
    for row in rows:
        for fingerprint, instances in from_json(row[5], dict[str, list[str]]).items():
            known.setdefault(fingerprint, set()).update(instances)
    return json.dumps({fingerprint: sorted(instances) for fingerprint, instances in sorted(known.items())})
