"""The instances of a workspace, where they came from, and rankings of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from opera.instance import Instance, Occurrence, decode_instance, digest, encode_instance
from opera.store.database import Workspace

_ADD_OCCURRENCE = "INSERT INTO occurrences VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET calls = excluded.calls"


@dataclass(frozen=True)
class Extraction:
    """What one source gave. *dropped* maps a reason to the number of calls lost to it; *seconds* is wall time."""

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
    """An order of a library's instances for a compiler. *seconds* is what it took to make."""

    id: int
    library: str
    compiler: str
    strategy: str
    seed: int
    seconds: float


class Corpus:
    """The instances of an open workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._database = workspace.database

    def add(self, items: Iterable[tuple[Instance, Occurrence]]) -> int:
        """Adds instances with their provenance in one transaction; returns how many were new."""
        new = 0
        with self._workspace.transaction() as database:
            for instance, occurrence in items:
                key = digest(instance)
                document = zlib.compress(json.dumps(encode_instance(instance, self._workspace.put_blob)).encode(), 1)
                cursor = database.execute(
                    "INSERT OR IGNORE INTO instances VALUES (?, ?, ?, ?, ?, ?)",
                    (key, instance.library, instance.api, instance.operator, instance.outcome.value, document),
                )
                new += cursor.rowcount
                database.execute(
                    _ADD_OCCURRENCE,
                    (key, occurrence.source, occurrence.test, occurrence.calls),
                )
        return new

    def add_occurrences(self, items: Iterable[tuple[str, Occurrence]]) -> None:
        """Adds provenance to instances that are there already."""
        rows = ((key, occurrence.source, occurrence.test, occurrence.calls) for key, occurrence in items)
        with self._workspace.transaction() as database:
            database.executemany(_ADD_OCCURRENCE, rows)

    def record_extraction(self, extraction: Extraction) -> None:
        """Keeps the figures of the newest extraction of a source."""
        with self._workspace.transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    extraction.library, extraction.source, extraction.version, extraction.calls, extraction.distinct,
                    extraction.operators, json.dumps(dict(extraction.dropped)), extraction.seconds,
                ),
            )  # fmt: skip

    def source_counts(self, source: str) -> tuple[int, int]:
        """Distinct instances and APIs that *source* has given so far."""
        row = self._database.execute(
            "SELECT count(DISTINCT instance), count(DISTINCT api) FROM occurrences JOIN instances ON id = instance WHERE source = ?",
            (source,),
        ).fetchone()
        return int(row[0]), int(row[1])

    def counts(self, library: str) -> tuple[int, int]:
        """Distinct instances and APIs of *library*."""
        row = self._database.execute("SELECT count(*), count(DISTINCT api) FROM instances WHERE library = ?", (library,)).fetchone()
        return int(row[0]), int(row[1])

    def libraries(self) -> list[str]:
        """The libraries that have instances, by name."""
        return [row[0] for row in self._database.execute("SELECT DISTINCT library FROM instances ORDER BY library")]

    def instances(self, library: str) -> Iterator[tuple[str, Instance]]:
        """Hash and instance of everything recorded for *library*, in the order of the hashes."""
        for key, document in self._database.execute("SELECT id, document FROM instances WHERE library = ? ORDER BY id", (library,)):
            yield key, self._decode(document)

    def runnable(self, library: str) -> set[str]:
        """The instances of *library* that did not raise in their own test."""
        return {row[0] for row in self._database.execute("SELECT id FROM instances WHERE library = ? AND outcome != 'raised'", (library,))}

    def get(self, key: str) -> Instance:
        """The instance of that hash; raises KeyError."""
        return self._decode(self._row(key))

    def document(self, key: str) -> str:
        """The instance/1 document of that hash as JSON text, blobs by name; raises KeyError."""
        return zlib.decompress(self._row(key)).decode()

    def sizes(self, keys: Iterable[str]) -> dict[str, int]:
        """Bytes of the stored document of each of *keys*: a small document is a small instance."""
        query = "SELECT length(document) FROM instances WHERE id = ?"
        rows = ((key, self._database.execute(query, (key,)).fetchone()) for key in keys)
        return {key: row[0] for key, row in rows if row is not None}

    def provenance(self, key: str) -> list[Occurrence]:
        """Which tests called this instance."""
        rows = self._database.execute("SELECT source, test, calls FROM occurrences WHERE instance = ? ORDER BY source, test", (key,))
        return [Occurrence(source, test, calls) for source, test, calls in rows]

    def _row(self, key: str) -> bytes:
        row = self._database.execute("SELECT document FROM instances WHERE id = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        return row[0]

    def _decode(self, document: bytes) -> Instance:
        return decode_instance(json.loads(zlib.decompress(document)), self._workspace.get_blob)

    def add_ranking(self, library: str, compiler: str, strategy: str, seed: int, seconds: float, order: Sequence[tuple[str, float]]) -> int:
        """Keeps an order of instances with their scores, in place of an earlier one of the same kind; returns its number."""
        with self._workspace.transaction() as database:
            database.execute(
                "DELETE FROM rankings WHERE library = ? AND compiler = ? AND strategy = ? AND seed = ?",
                (library, compiler, strategy, seed),
            )
            number = database.execute(
                "INSERT INTO rankings (library, compiler, strategy, seed, seconds) VALUES (?, ?, ?, ?, ?)",
                (library, compiler, strategy, seed, seconds),
            ).lastrowid
            assert number is not None
            rows = ((number, place, key, score) for place, (key, score) in enumerate(order))
            database.executemany("INSERT INTO ranked VALUES (?, ?, ?, ?)", rows)
        return number

    def newest_ranking(self, library: str, compiler: str, seed: int, strategy: str | None = None) -> Ranking | None:
        """The newest ranking for a subject under *seed*, made by *strategy* where given."""
        row = self._database.execute(
            "SELECT id, library, compiler, strategy, seed, seconds FROM rankings"
            " WHERE library = ? AND compiler = ? AND seed = ? AND (? IS NULL OR strategy = ?) ORDER BY id DESC LIMIT 1",
            (library, compiler, seed, strategy, strategy),
        ).fetchone()
        return None if row is None else Ranking(*row)

    def ranked(self, ranking: int) -> list[str]:
        """The instances of a ranking, first to last."""
        return [row[0] for row in self._database.execute("SELECT instance FROM ranked WHERE ranking = ? ORDER BY place", (ranking,))]
