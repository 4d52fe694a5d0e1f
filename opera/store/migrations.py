"""Steps that upgrade a workspace of an older version to this version. Each runs in one transaction, with the workspace locked."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from opera import bundle
from opera.instance import decode_instance, shape_digest
from opera.untrusted import inflated, parsed_json

Step = Callable[[sqlite3.Connection, Path], None]


def _to_2(database: sqlite3.Connection, blobs: Path) -> None:
    """Counts up to dtype, provenance of bounded size, and extractions that can be continued."""
    database.execute("ALTER TABLE instances ADD COLUMN shapes TEXT NOT NULL DEFAULT ''")
    keys = [row[0] for row in database.execute("SELECT id FROM instances")]
    for key in keys:
        (document,) = database.execute("SELECT document FROM instances WHERE id = ?", (key,)).fetchone()
        database.execute("UPDATE instances SET shapes = ? WHERE id = ?", (_shapes(key, document, blobs), key))
    database.execute("DROP INDEX instances_by_library")
    database.execute("CREATE INDEX instances_by_library ON instances (library, api, shapes)")
    database.execute("ALTER TABLE occurrences ADD COLUMN run INTEGER NOT NULL DEFAULT 0")
    database.execute(
        "CREATE TEMP TABLE surplus AS SELECT instance, source, test, calls FROM"
        " (SELECT *, row_number() OVER (PARTITION BY instance, source ORDER BY test) AS place FROM occurrences) WHERE place > 10"
    )
    database.execute("DELETE FROM occurrences WHERE (instance, source, test) IN (SELECT instance, source, test FROM surplus)")
    database.execute("INSERT INTO occurrences SELECT instance, source, '*', sum(calls), 0 FROM surplus GROUP BY instance, source")
    database.execute("DROP TABLE surplus")
    database.execute(
        "CREATE TABLE extraction_progress (library TEXT NOT NULL, source TEXT NOT NULL, entry TEXT NOT NULL, mark TEXT NOT NULL,"
        " ended TEXT NOT NULL, digests BLOB NOT NULL, PRIMARY KEY (library, source, entry)) WITHOUT ROWID"
    )


def _shapes(key: str, document: bytes, blobs: Path) -> str:
    """The coarser hash of a stored instance; its own identity where its data are gone."""
    try:
        return shape_digest(decode_instance(parsed_json(inflated(document)), lambda name: bundle.fetch(blobs, name)))
    except (ValueError, bundle.DamagedArtefact):
        return key


def _to_3(database: sqlite3.Connection, blobs: Path) -> None:
    """A ranking belongs to a frontend: several may take the instances of one library."""
    database.execute("ALTER TABLE rankings RENAME COLUMN library TO frontend")


def _to_4(database: sqlite3.Connection, blobs: Path) -> None:
    """Reductions of failing tests, and findings by root cause."""
    database.execute(
        "CREATE TABLE reductions (number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, test TEXT NOT NULL, finding TEXT NOT NULL,"
        " reason TEXT, instance BLOB, trigger TEXT, detail TEXT NOT NULL, UNIQUE (fingerprint, test))"
    )
    database.execute("CREATE TABLE assignments (test TEXT PRIMARY KEY, finding TEXT NOT NULL) WITHOUT ROWID")
    database.execute(
        "CREATE TABLE merges (finding TEXT NOT NULL, other TEXT NOT NULL, reason TEXT NOT NULL, apart INTEGER NOT NULL,"
        " PRIMARY KEY (finding, other)) WITHOUT ROWID"
    )


def _to_5(database: sqlite3.Connection, blobs: Path) -> None:
    """Results name their machine; results of other machines are in a separate table."""
    database.execute("ALTER TABLE results ADD COLUMN machine TEXT")
    database.execute("CREATE TABLE machines (id TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID")
    database.execute(
        "CREATE TABLE results_elsewhere (test TEXT NOT NULL, machine TEXT NOT NULL, verdict TEXT NOT NULL, stage TEXT, reason TEXT,"
        " converter TEXT, fingerprint TEXT, detail TEXT, seconds TEXT NOT NULL, finished TEXT NOT NULL, PRIMARY KEY (test, machine))"
        " WITHOUT ROWID"
    )


def _to_6(database: sqlite3.Connection, blobs: Path) -> None:
    """The exporter that failed is a column; it was a part of the detail."""
    for table in ("results", "results_elsewhere"):
        database.execute(f"ALTER TABLE {table} ADD COLUMN exporter TEXT")
        database.execute(
            f"UPDATE {table} SET exporter = json_extract(detail, '$.exporter'), detail = json_remove(detail, '$.exporter')"
            " WHERE json_valid(detail) AND json_type(detail, '$.exporter') = 'text'"
        )


def _to_7(database: sqlite3.Connection, blobs: Path) -> None:
    """Findings keep the id under which they were first reported; outcomes of scripts name the test that the script shows."""
    database.execute("ALTER TABLE reproductions ADD COLUMN test TEXT")
    database.execute(
        "CREATE TABLE finding_ids (id TEXT PRIMARY KEY, test TEXT NOT NULL, since TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP) WITHOUT ROWID"
    )
    database.execute(
        "INSERT INTO finding_ids (id, test, since) SELECT fingerprint, test, finished FROM (SELECT fingerprint, test, finished,"
        " row_number() OVER (PARTITION BY fingerprint ORDER BY finished, test) AS place FROM results WHERE fingerprint IS NOT NULL)"
        " WHERE place = 1"
    )
    database.execute(
        "INSERT OR IGNORE INTO finding_ids (id, test) SELECT finding, test FROM reductions WHERE reason IS NULL ORDER BY number"
    )


def _to_8(database: sqlite3.Connection, blobs: Path) -> None:
    """Dropped calls by API; an earlier extraction did not keep them."""
    database.execute(
        "CREATE TABLE drops (library TEXT NOT NULL, source TEXT NOT NULL, api TEXT NOT NULL, reason TEXT NOT NULL, calls INTEGER NOT NULL,"
        " PRIMARY KEY (library, source, api, reason)) WITHOUT ROWID"
    )


STEPS: Mapping[int, Step] = {1: _to_2, 2: _to_3, 3: _to_4, 4: _to_5, 5: _to_6, 6: _to_7, 7: _to_8}
"""From which version each step starts."""
