"""Reads the judgements of `data/labelled`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

FOLDER = Path(__file__).parents[1] / "data" / "labelled"


class Judgement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of `causes.jsonl`: a root cause, or a part of its tests. `data/labelled/README.md` explains the keys.

    Attributes:
        subject: Compiler or exporter, and frontend.
        cause: Key of the root cause.
        also: Other causes of the same tests.
        label: Judgement.
        reason: Reason for the label.
        checked: Kind of check.
        tests: First 16 digits of the instance, and input form, of each failing test.
    """

    subject: str
    cause: str
    also: tuple[str, ...] = ()
    label: Literal["bug", "duplicate", "false-alarm", "library-bug", "doubtful"]
    reason: str
    checked: Literal["run", "other-compiler", "read"]
    tests: tuple[tuple[str, str], ...]

    @property
    def keys(self) -> list[tuple[str, str, str]]:
        """Subject, instance and input form of each test."""
        return [(self.subject, instance, form) for instance, form in self.tests]


def judgements() -> list[Judgement]:
    """The rows of `causes.jsonl`."""
    lines = (FOLDER / "causes.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Judgement) for line in lines]


def causes_of_bugs() -> dict[tuple[str, str, str], frozenset[str]]:
    """Root causes of each test that was judged a bug, by subject, instance and input form."""
    return {key: frozenset((each.cause, *each.also)) for each in judgements() if each.label == "bug" for key in each.keys}
