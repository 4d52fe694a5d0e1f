"""Recorded campaigns as files: gzipped JSON Lines, a few bytes a test, to be read without any compiler.

The first line says what the file is; then comes one line for each instance, with its document, seconds and faults.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opera.atomic import replacing
from opera.errors import UserError
from opera.evaluation.recorded import Recorded, RecordedTest
from opera.instance import decode_instance, encode_instance

SCHEMA = "recorded-campaign/1"


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


def read_recorded(path: Path) -> Recorded:
    """The campaign in *path*.

    Raises:
        UserError: the file is not there, damaged, or of another form.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            head = json.loads(next(lines, "{}"))
            if head.get("schema") != SCHEMA:
                raise UserError(f"{path} is no recorded campaign ({SCHEMA}); `opera evaluate --record FILE` writes one")
            rows = [json.loads(line) for line in lines]
        tests = [_test(row) for row in rows]
        order = [row["id"] for row in sorted((row for row in rows if "place" in row), key=lambda row: row["place"])]
        if len(tests) != head["tests"]:
            raise UserError(f"{path} ends after {len(tests)} of {head['tests']} tests")
        return Recorded(head["subject"], tests, head["faults"], head["equipped"], facts=head["facts"], order=order)
    except FileNotFoundError as error:
        raise UserError(f"there is no file {path}") from error
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is damaged or no recorded campaign: {error}") from error


def _test(document: dict[str, Any]) -> RecordedTest:
    coverage = document.get("coverage")
    return RecordedTest(
        document["id"], decode_instance(document["instance"]), float(document["seconds"]), frozenset(document.get("faults", ())),
        None if coverage is None else frozenset(number for first, length in coverage for number in range(first, first + length)),
    )  # fmt: skip


def _runs(numbers: list[int]) -> list[list[int]]:
    """First number and length of each run of consecutive *numbers*, which rise."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs
