"""Recorded findings, as `data/findings` has them: rows of tables, and the scripts that show them."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from opera.config import Config
from opera.console import doing, one_line
from opera.errors import EnvironmentBroken, UserError
from opera.oracles.fingerprint import template
from opera.oracles.verdict import Verdict
from opera.report.reproducer import run_script
from opera.untrusted import read_file
from opera.workers.process import signal_name

T = TypeVar("T")
_LACKS = re.compile(r"^(?:ModuleNotFoundError: No module named|ImportError: cannot import name) '([\w.]+)'", re.MULTILINE)
_SIGNAL = re.compile(r"\bSIG[A-Z]+\b")
_WORD = re.compile(r"[A-Za-z_]{4,}")
_SHARE = 0.75
"""Share of the words of a message that a crash has to say again: numbers, addresses and folders differ between machines."""


class State(enum.Enum):
    """What the script of a finding shows today."""

    FAILS = "fails as said"
    OTHERWISE = "fails otherwise"
    MENDED = "mended"
    FIXED = "fixed as said"
    MISSING = "environment missing"


class Row(msgspec.Struct, frozen=True):
    """What is read of a row of a table; a table has other keys too.

    Attributes:
        name: Name of the script, without `.py`.
        verdict: Kind of failure.
        summary: Message of the failure.
        operators: APIs of the failing call.
        versions: Outcomes on versions of the compiler, as `opera bisect` says them in short.
        stage: Stage that failed.
        route: Chain of conversions from library to compiler.
        converter: Part of the compiler that converts the operator.
        trigger: Condition that the failure needs.
        seen_with: Versions and settings that showed the failure.
        cause: Root cause in `data/labelled`; empty if it has none.
        why: Judgement in one sentence.
        fails: Other calls that fail.
        passes: Call that passes, for each part of the trigger.
    """

    name: str
    verdict: Verdict
    summary: str
    operators: tuple[str, ...]
    versions: str = ""
    stage: str = ""
    route: str = ""
    converter: str = ""
    trigger: str = ""
    seen_with: str = ""
    cause: str = ""
    why: str = ""
    fails: tuple[str, ...] = ()
    passes: Mapping[str, str] = {}

    @property
    def is_fixed(self) -> bool:
        """Whether the newest version that was tried does not show the failure."""
        return self.versions.rpartition(", ")[2].startswith("good ")


class Table(msgspec.Struct, frozen=True):
    """The findings of one compiler on one frontend."""

    compiler: str
    frontend: str
    finding: tuple[Row, ...] = ()

    @property
    def subject(self) -> str:
        """Name of its file, and of the folder of its scripts."""
        return f"{self.compiler}-{self.frontend}"


def tables(folder: Path) -> Iterator[Table]:
    """The tables of *folder*; raises UserError for a file that is no table, and for a name that no script can have."""
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise UserError(f"{folder} has no table of findings; name a folder such as data/findings")
    for path in paths:
        try:
            table = msgspec.toml.decode(read_file(path), type=Table)
        except (OSError, msgspec.MsgspecError, RecursionError) as error:
            raise UserError(f"{path} is no table of findings: {one_line(str(error))}") from error
        names = [table.subject, *(row.name for row in table.finding)]
        wrong = next((name for name in names if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)), None)
        if wrong is not None or names[0] != path.stem:
            raise UserError(f"{path} is no table of findings: {one_line(wrong or names[0])!r} names neither it nor a script of it")
        yield table


def title_of(script: Path) -> str:
    """The title of a finding: the first line of its *script*, without the subject."""
    try:
        first = ast.get_docstring(ast.parse(read_file(script))) or ""
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise UserError(f"{script} is no script of a finding: {one_line(str(error))}") from error
    return one_line(first.partition("\n")[0].partition(": ")[2])


@dataclass(frozen=True)
class Shown:
    """What a script showed.

    Attributes:
        state: How that compares with its row.
        said: Its own words for it.
        output: The end of all that it printed.
    """

    state: State
    said: str
    output: str = ""


def shown(script: Path, compiler: str, row: Row, config: Config) -> Shown:
    """What *script* shows in the environment of its compiler.

    Raises:
        UserError: there is no such file.
    """
    if not script.is_file():
        raise UserError(f"{script} is missing; its table has a row for it")
    try:
        ended, output = run_script(script, config, compiler)
    except EnvironmentBroken as error:
        return Shown(State.MISSING, str(error))
    if not isinstance(ended, int):
        return Shown(State.FAILS if ended[0] is row.verdict else State.OTHERWISE, ended[1], output)
    if ended == 0:
        return Shown(State.FIXED if row.is_fixed else State.MENDED, "the script ends without a failure", output)
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
    lacks = _LACKS.search(output)
    if lacks is not None and lacks[0] not in row.summary and lacks[0] in last:
        return Shown(State.MISSING, last, output)
    said = f"the process ended with {signal_name(-ended)}" if ended < 0 else last
    return Shown(State.FAILS if _as_said(ended, output, row) else State.OTHERWISE, said, output)


def _as_said(ended: int, output: str, row: Row) -> bool:
    if ended < 0:
        named = _SIGNAL.search(row.summary)
        return row.verdict is Verdict.ABORT and (named is None or named[0] == signal_name(-ended))
    if row.verdict is Verdict.INCONSISTENT:
        return "AssertionError" in output
    return row.verdict is Verdict.CRASH and says(row.summary, output)


def in_order(tasks: Sequence[Callable[[], T]], jobs: int, done: str) -> Iterator[T]:
    """What *tasks* return, in order; *jobs* run at a time. *done* says how many of them have ended, e.g. `ran {} of {} scripts`."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(each) for each in tasks]
        try:
            for number, future in enumerate(futures, 1):
                yield future.result()
                doing(done.format(f"{number:,}", f"{len(futures):,}"))
        finally:
            pool.shutdown(cancel_futures=True)


def says(wanted: str, found: str) -> bool:
    """Whether *found* says most words of the message *wanted*; where it has none, whether both are one message but for numbers."""
    words = set(_WORD.findall(wanted))
    if not words:
        return template(wanted) == template(found)
    return sum(word in found for word in words) >= _SHARE * len(words)
