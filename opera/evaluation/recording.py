"""Recorded campaigns as files: gzipped JSON Lines, a few bytes a test, to be read without any compiler.

The first line says what the file is; then comes one line for each instance, with its document, seconds and faults.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from opera.atomic import replacing
from opera.errors import UserError
from opera.evaluation.recorded import Recorded, RecordedTest
from opera.instance import decode_instance, encode_instance
from opera.untrusted import Count, Document, Line, Malformed, Name, Seconds, from_json, lines_of, parsed_json, typed

SCHEMA = "recorded-campaign/1"
_MOST_STATEMENTS = 10_000_000


def write_recorded(recorded: Recorded, path: Path) -> None:
    """Writes *recorded*; the same campaign gives the same bytes."""
    with replacing(path) as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=9, mtime=0) as packed:
        for document in _documents(recorded):
            packed.write((json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n").encode())


def _documents(recorded: Recorded) -> Iterator[dict[str, Any]]:
    yield {
        "schema": SCHEMA, "subject": recorded.subject, "tests": len(recorded.tests), "faults": dict(recorded.faults),
        "equipped": dict(recorded.equipped), "facts": dict(recorded.facts),
    }  # fmt: skip
    places = {name: place for place, name in enumerate(recorded.order)}
    for test in recorded.tests:
        document: dict[str, Any] = {"id": test.id, "instance": encode_instance(test.instance), "seconds": test.seconds}
        if test.id in places:
            document["place"] = places[test.id]
        if test.faults:
            document["faults"] = sorted(test.faults)
        if test.coverage is not None:
            document["coverage"] = _runs(sorted(test.coverage))
        yield document


class _Head(msgspec.Struct):
    """The first line."""

    schema: str
    subject: Name
    tests: Count
    faults: dict[str, Line]
    equipped: dict[str, Count]
    facts: dict[str, Line]


class _Row(msgspec.Struct):
    """One test."""

    id: Name
    instance: Document
    seconds: Seconds
    place: Count | None = None
    faults: list[Name] = []
    coverage: list[tuple[Count, Count]] | None = None

    def test(self) -> RecordedTest:
        """Raises ValueError if the instance is malformed, or the coverage has more statements than any compiler."""
        runs = self.coverage
        if runs is not None and sum(length for _, length in runs) > _MOST_STATEMENTS:
            raise Malformed(f"coverage of more than {_MOST_STATEMENTS:,} statements")
        statements = None if runs is None else frozenset(number for first, length in runs for number in range(first, first + length))
        return RecordedTest(self.id, decode_instance(self.instance), self.seconds, frozenset(self.faults), statements)


def read_recorded(path: Path) -> Recorded:
    """The campaign in *path*.

    Raises:
        UserError: the file is not there, damaged, or of another form; the message names the line.
    """
    number = 1
    try:
        lines = lines_of(path)
        head = parsed_json(next(lines, (1, b"{}"))[1])
        if not isinstance(head, dict) or cast(Document, head).get("schema") != SCHEMA:
            raise UserError(f"{path} is no recorded campaign ({SCHEMA}); `opera evaluate --record FILE` writes one")
        about = typed(cast(object, head), _Head)
        rows: list[_Row] = []
        tests: list[RecordedTest] = []
        for at, line in lines:
            number = at
            rows.append(from_json(line, _Row))
            tests.append(rows[-1].test())
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except (ValueError, OSError) as error:
        raise UserError(f"{path}:{number}: damaged or no recorded campaign: {error}") from error
    if len(tests) != about.tests:
        raise UserError(f"{path} ends after {len(tests)} of {about.tests} tests")
    placed = sorted((row.place, row.id) for row in rows if row.place is not None)
    return Recorded(about.subject, tests, about.faults, about.equipped, facts=about.facts, order=[name for _, name in placed])


def _runs(numbers: list[int]) -> list[list[int]]:
    """First number and length of each run of consecutive *numbers*, which rise."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs
