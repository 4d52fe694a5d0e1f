"""The instances of a workspace, where they came from, and rankings of them."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opera.console import say
from opera.errors import UserError
from opera.instance import Instance, Occurrence, decode_instance, digest, encode_instance, shape_digest
from opera.store.database import Workspace
from opera.untrusted import Document, from_json, inflated, parsed_json

TESTS_KEPT = 10
"""Tests that are kept by name of each instance and source."""
OTHER_TESTS = "*"
"""Stands for all further tests of an instance and source; their calls add up."""
_ADD_OCCURRENCE = (
    "INSERT INTO occurrences (instance, source, test, calls, run) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
    " SET calls = excluded.calls + CASE WHEN occurrences.run = excluded.run THEN occurrences.calls ELSE 0 END, run = excluded.run"
)
_OF_LIBRARY = "FROM instances WHERE library = :library AND outcome"
_TESTS = "SELECT test FROM occurrences WHERE instance = ? AND source = ?"


@dataclass(frozen=True)
class Extraction:
    """The counts of one source. *dropped* maps a reason to the number of calls lost to it; *seconds* is wall time."""

    library: str
    source: str
    version: str
    calls: int
    distinct: int
    operators: int
    dropped: Mapping[str, int]
    seconds: float


@dataclass(frozen=True)
class Ranking:
    """An order of the instances that a frontend of a compiler takes. *seconds* is what it took to make."""

    id: int
    frontend: str
    compiler: str
    strategy: str
    seed: int
    seconds: float


class DamagedInstance(UserError, ValueError):
    """An instance of the workspace cannot be read."""


@contextlib.contextmanager
def _named(key: str) -> Generator[None]:
    """Says which instance it is that cannot be read."""
    try:
        yield
    except ValueError as error:
        raise DamagedInstance(f"instance {key[:12]} of the workspace is damaged ({error}); extract or import it again") from error


class Corpus:
    """The instances of an open workspace.

    Args:
        workspace: The workspace.
        continues: Whether what is added goes on with the command that added something last, so that calls of a test add up.
        refused: Whether tests are made of the instances that raised in their own test, and not of the others.
    """

    def __init__(self, workspace: Workspace, *, continues: bool = False, refused: bool = False) -> None:
        self.refused = refused
        self._runnable = f"{_OF_LIBRARY} {'=' if refused else '!='} 'raised'"
        self._workspace = workspace
        self._database = workspace.database
        self._step = 0 if continues else 1
        self._run: int | None = None

    def add(self, items: Iterable[tuple[Instance, Occurrence]]) -> int:
        """Adds instances with their provenance in one transaction; returns how many were new."""
        return self.add_identified((digest(instance), instance, occurrence) for instance, occurrence in items)

    def add_identified(self, items: Iterable[tuple[str, Instance, Occurrence]]) -> int:
        """Like `add`, where the identities of the instances are known."""
        new = 0
        with self._workspace.transaction() as database:
            for key, instance, occurrence in items:
                document = zlib.compress(json.dumps(encode_instance(instance, self._workspace.put_blob)).encode(), 1)
                cursor = database.execute(
                    "INSERT OR IGNORE INTO instances (id, library, api, operator, outcome, document, shapes) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (key, instance.library, instance.api, instance.operator, instance.outcome.value, document, shape_digest(instance)),
                )
                new += cursor.rowcount
                self._add_occurrence(key, occurrence)
        return new

    def add_occurrences(self, items: Iterable[tuple[str, Occurrence]]) -> None:
        """Adds provenance to instances that are there already.

        Of each instance and source, `TESTS_KEPT` tests are kept by name; the calls of all others add up under `OTHER_TESTS`. What one
        Corpus object is given of a test adds up; it replaces what an earlier one was given, so that recording again changes nothing.
        """
        with self._workspace.transaction():
            for key, occurrence in items:
                self._add_occurrence(key, occurrence)

    def _add_occurrence(self, key: str, occurrence: Occurrence) -> None:
        if self._run is None:
            (self._run,) = self._database.execute("SELECT coalesce(max(run), 0) + ? FROM occurrences", (self._step,)).fetchone()
        test = occurrence.test
        kept = {row[0] for row in self._database.execute(_TESTS, (key, occurrence.source))}
        if test not in kept and len(kept - {OTHER_TESTS}) >= TESTS_KEPT:
            test = OTHER_TESTS
        self._database.execute(_ADD_OCCURRENCE, (key, occurrence.source, test, occurrence.calls, self._run))

    def record_extraction(self, extraction: Extraction, drops: Mapping[tuple[str, str], int] | None = None) -> None:
        """Keeps the figures of the newest extraction of a source; *drops* are its dropped calls by API and reason."""
        with self._workspace.transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    extraction.library,
                    extraction.source,
                    extraction.version,
                    extraction.calls,
                    extraction.distinct,
                    extraction.operators,
                    json.dumps(dict(extraction.dropped)),
                    extraction.seconds,
                ),
            )
            place = (extraction.library, extraction.source)
            database.execute("DELETE FROM drops WHERE library = ? AND source = ?", place)
            rows = ((*place, api, reason, calls) for (api, reason), calls in (drops or {}).items())
            database.executemany("INSERT INTO drops (library, source, api, reason, calls) VALUES (?, ?, ?, ?, ?)", rows)

    def counts(self, library: str) -> tuple[int, int]:
        """Distinct instances and APIs of *library*."""
        row = self._database.execute("SELECT count(*), count(DISTINCT api) FROM instances WHERE library = ?", (library,)).fetchone()
        return int(row[0]), int(row[1])

    def libraries(self) -> list[str]:
        """The libraries that have instances, by name."""
        return [row[0] for row in self._database.execute("SELECT DISTINCT library FROM instances ORDER BY library")]

    def instances(self, library: str) -> Iterator[tuple[str, Instance]]:
        """Hash and instance of everything recorded for *library*, in the order of the hashes."""
        rows = self._database.execute("SELECT id FROM instances WHERE library = ? ORDER BY id", (library,)).fetchall()
        return self.readable(key for (key,) in rows)

    def readable(self, keys: Iterable[str]) -> Iterator[tuple[str, Instance]]:
        """Hash and instance of those of *keys* that can be read; at the end, one line on standard error names the others.

        A file that is gone, or is not what its name says, costs the instances that need it and no more.
        """
        damaged: list[DamagedInstance] = []
        for key in keys:
            try:
                yield key, self.get(key)
            except DamagedInstance as error:
                damaged.append(error)
        if damaged:
            more = f"; so are {len(damaged) - 1:,} more" if len(damaged) > 1 else ""
            say(f"{damaged[0]}; it is left out{more}")

    def runnable(self, library: str) -> dict[str, str]:
        """The instances of *library* that tests are made of, each with its API, in the order of the hashes."""
        return dict(self._database.execute(f"SELECT id, api {self._runnable} ORDER BY id", {"library": library}))

    def get(self, key: str) -> Instance:
        """The instance of that hash; raises KeyError."""
        return self._decode(key, self._row(key))

    def document(self, key: str) -> str:
        """The instance/1 document of that hash as JSON text, blobs by name; raises KeyError."""
        with _named(key):
            return inflated(self._row(key)).decode()

    def sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Bytes of the stored document of each of *keys*: a small document is a small instance."""
        query = "SELECT length(document) FROM instances WHERE id = ?"
        rows = ((key, self._database.execute(query, (key,)).fetchone()) for key in keys)
        return {key: row[0] for key, row in rows if row is not None}

    def provenance(self, key: str) -> list[Occurrence]:
        """Which tests called this instance, by source and name; `OTHER_TESTS` comes last of its source."""
        query = "SELECT source, test, calls FROM occurrences WHERE instance = ? ORDER BY source, test = ?, test"
        rows = self._database.execute(query, (key, OTHER_TESTS))
        return [Occurrence(source, test, calls) for source, test, calls in rows]

    def _row(self, key: str) -> bytes:
        row = self._database.execute("SELECT document FROM instances WHERE id = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return row[0]

    def _decode(self, key: str, document: bytes) -> Instance:
        with _named(key):
            return decode_instance(parsed_json(inflated(document)), self._workspace.get_blob)

    def add_ranking(
        self, frontend: str, compiler: str, strategy: str, seed: int, seconds: float, order: Sequence[tuple[str, float]]
    ) -> int:
        """Keeps an order of instances with their scores, in place of an earlier one of the same kind; returns its number."""
        with self._workspace.transaction() as database:
            database.execute(
                "DELETE FROM rankings WHERE frontend = ? AND compiler = ? AND strategy = ? AND seed = ?",
                (frontend, compiler, strategy, seed),
            )
            number = database.execute(
                "INSERT INTO rankings (frontend, compiler, strategy, seed, seconds) VALUES (?, ?, ?, ?, ?)",
                (frontend, compiler, strategy, seed, seconds),
            ).lastrowid
            assert number is not None
            database.execute("DELETE FROM ranked WHERE ranking = ?", (number,))  # a damaged database may hold places of no ranking
            rows = ((number, index, key, score) for index, (key, score) in enumerate(order))
            database.executemany("INSERT INTO ranked VALUES (?, ?, ?, ?)", rows)
        return number

    def newest_ranking(self, frontend: str, compiler: str, seed: int, strategy: str | None = None) -> Ranking | None:
        """The newest ranking for a subject under *seed*, made by *strategy* where given."""
        row = self._database.execute(
            "SELECT id, frontend, compiler, strategy, seed, seconds FROM rankings"
            " WHERE frontend = ? AND compiler = ? AND seed = ? AND (? IS NULL OR strategy = ?) ORDER BY id DESC LIMIT 1",
            (frontend, compiler, seed, strategy, strategy),
        ).fetchone()
        return None if row is None else Ranking(*row)

    def ranked(self, ranking: int) -> list[str]:
        """The instances of a ranking, first to last."""
        return [row[0] for row in self._database.execute("SELECT instance FROM ranked WHERE ranking = ? ORDER BY place", (ranking,))]

    def is_current(self, ranking: int, library: str) -> bool:
        """Whether a ranking has every instance of *library* that can be run, and no other. None of them is read into memory."""
        had, there = "SELECT instance FROM ranked WHERE ranking = :ranking", f"SELECT id {self._runnable}"
        query = f"SELECT NOT EXISTS ({had} EXCEPT {there}) AND NOT EXISTS ({there} EXCEPT {had})"
        return bool(self._database.execute(query, {"ranking": ranking, "library": library}).fetchone()[0])

    def placed(self, ranking: int) -> list[tuple[str, str, float]]:
        """Hash, API and score of the instances of a ranking, first to last; the API is empty where the instance is gone."""
        rows = self._database.execute(
            "SELECT instance, coalesce(api, ''), score FROM ranked LEFT JOIN instances ON id = instance WHERE ranking = ? ORDER BY place",
            (ranking,),
        )
        return [(key, api, score) for key, api, score in rows]


@dataclass(frozen=True)
class EndedFile:
    """A file of a suite that has been run.

    Attributes:
        entry: Its path within the suite.
        mark: Hash of the file and of the settings under which it ran: under another mark it runs again.
        facts: Calls, dropped calls by reason, outcomes of its tests, and how it failed if it did.
        digests: The identities of its distinct instances.
    """

    entry: str
    mark: str
    facts: Mapping[str, Any]
    digests: frozenset[bytes]


class ExtractionProgress:
    """The files that an unfinished extraction of one source has behind it."""

    def __init__(self, workspace: Workspace, library: str, source: str) -> None:
        self._workspace = workspace
        self._place = (library, source)

    def ended(self) -> dict[str, EndedFile]:
        """All of them, by path."""
        query = "SELECT entry, mark, ended, digests FROM extraction_progress WHERE library = ? AND source = ? ORDER BY entry"
        rows = self._workspace.database.execute(query, self._place)
        return {entry: EndedFile(entry, mark, from_json(facts, Document), _unpack(digests)) for entry, mark, facts, digests in rows}

    def add(self, file: EndedFile) -> None:
        """Keeps one more; part of the caller's transaction, so that it stands or falls with the instances of the file."""
        row = (*self._place, file.entry, file.mark, json.dumps(dict(file.facts)), zlib.compress(b"".join(sorted(file.digests)), 1))
        self._workspace.database.execute("INSERT OR REPLACE INTO extraction_progress VALUES (?, ?, ?, ?, ?, ?)", row)

    def finish(self) -> None:
        """Forgets all finished files: the extraction is complete, and the next one starts from the beginning."""
        with self._workspace.transaction() as database:
            database.execute("DELETE FROM extraction_progress WHERE library = ? AND source = ?", self._place)


def _unpack(blob: bytes) -> frozenset[bytes]:
    whole = inflated(blob)
    return frozenset(whole[start : start + 32] for start in range(0, len(whole), 32))
