"""What is wrong with a suite, and where."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from opera.console import one_line
from opera.errors import UserError

MOST_PROBLEMS = 1000
"""Errors, and warnings, that are collected; more say nothing new."""
_MOST_CHOICES = 5_000


@dataclass(frozen=True, order=True)
class SuiteProblem:
    """An error or a warning with its place.

    Attributes:
        order: Number of the file in the order of loading.
        line, column: From 1.
        file: Its path as it was given, or found from the file that includes it.
        message: What is wrong; what to do.
        test: Id of the test; None outside of tests.
        operator: What the test runs.
        where: Path inside the test, preset or section, e.g. `in[0].shape`.
        warning: Whether the suite is valid all the same.
    """

    order: int
    line: int
    column: int
    file: str
    message: str
    test: str | None = None
    operator: str | None = None
    where: str | None = None
    warning: bool = False

    @property
    def text(self) -> str:
        """`suite.yaml:7:12: test add, aten::add, in[0]: unknown field 'shpae'; did you mean 'shape'?`."""
        parts = [] if self.test is None else [f"test {self.test}"]
        parts += [each for each in (self.operator, self.where) if each]
        context = f"{', '.join(one_line(each, 120) for each in parts)}: " if parts else ""
        return f"{self.file}:{self.line}:{self.column}: {'warning: ' if self.warning else ''}{context}{self.message}"

    def document(self) -> dict[str, str | int | None]:
        """The problem as an object of the output of `--json`."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "test": self.test,
            "operator": self.operator,
            "where": self.where,
            "message": self.message,
        }


class InvalidSuite(UserError):
    """A suite with errors.

    Attributes:
        problems: Errors and warnings, sorted by place.
    """

    def __init__(self, problems: Iterable[SuiteProblem]) -> None:
        self.problems = tuple(problems)
        errors = [each for each in self.problems if not each.warning]
        more = "" if len(errors) < 2 else f" (and {len(errors) - 1:,} more; `opera opidiff check` lists them)"
        super().__init__(f"{errors[0].text}{more}")


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'shape'?`, or nothing where none of the first known names is near."""
    choices = list(itertools.islice(known, _MOST_CHOICES))
    lowered = {each.lower(): each for each in choices}
    key = name[:100].lower()
    close = difflib.get_close_matches(key, lowered, 1, 0.6) or [each for each in lowered if each and key.startswith(each)]
    return f"; did you mean {lowered[close[0]]!r}?" if close else ""


def one_of(names: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last
