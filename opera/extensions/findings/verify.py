"""`opera verify`: which recorded findings their scripts still show, each in the environment of its compiler."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, common
from opera.config import Config, load_config
from opera.console import doing, echo, one_line, plural, print_json, print_table, say
from opera.corpus.selection import selector
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.oracles.fingerprint import summary
from opera.oracles.verdict import Verdict
from opera.report.reproducer import run_script
from opera.untrusted import JsonObject, read_file
from opera.workers.cores import usable_cores
from opera.workers.process import signal_name

SCHEMA = "verify/1"
_LACKS = re.compile(r"^(?:ModuleNotFoundError: No module named|ImportError: cannot import name) '([\w.]+)'", re.MULTILINE)
_SIGNAL = re.compile(r"\bSIG[A-Z]+\b")
_WORD = re.compile(r"[A-Za-z_]{4,}")
_SHARE = 0.75
"""Share of the words of a row's message that a crash has to say again: numbers, addresses and folders differ between machines."""


class State(enum.Enum):
    """What the script of a finding shows today."""

    FAILS = "fails as said"
    OTHERWISE = "fails otherwise"
    MENDED = "mended"
    MISSING = "environment missing"


class Row(msgspec.Struct, frozen=True):
    """What is read of a row of a table; a table has other keys too.

    Attributes:
        name: Name of the script, without `.py`.
        verdict: Kind of failure.
        summary: Message of the failure.
        operators: APIs of the failing call.
    """

    name: str
    verdict: Verdict
    summary: str
    operators: tuple[str, ...]


class Table(msgspec.Struct, frozen=True):
    """The findings of one compiler on one frontend."""

    compiler: str
    frontend: str
    finding: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Verified:
    """A finding, its state, and what its script said."""

    subject: str
    name: str
    state: State
    said: str


@click.command("verify", cls=HeadedCommand)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path("data/findings"), required=False)
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only findings of this compiler.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel scripts.")
@common
def command(folder: Path, compiler: str | None, keyword: str | None, jobs: int, as_json: bool) -> int:
    """Run the scripts of recorded findings, and say which still fail.

    FOLDER has a table COMPILER-FRONTEND.toml and a folder of scripts for each subject, as data/findings. A script runs in the environment
    of its compiler, with the limits of `opera reproduce`. Exit with 1 if a finding is mended or fails otherwise.
    """
    wanted = selector(keyword)
    of_compiler = [each for each in tables(folder) if compiler in (None, each.compiler)]
    chosen = [(table, row) for table in of_compiler for row in table.finding if any(map(wanted, row.operators))]
    if not chosen:
        raise NothingSelected(f"no finding of {folder} is selected")
    found: list[Verified] = []
    try:
        found.extend(verified(folder, chosen, load_config(), jobs))
    finally:  # an interruption leaves what is known
        if as_json:
            print_json(_document(found))
        elif found:
            _print(found)
    return Exit.NEW_FINDINGS if any(each.state in (State.OTHERWISE, State.MENDED) for each in found) else Exit.CLEAN


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
        names = [f"{table.compiler}-{table.frontend}", *(row.name for row in table.finding)]
        wrong = next((name for name in names if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)), None)
        if wrong is not None or names[0] != path.stem:
            raise UserError(f"{path} is no table of findings: {one_line(wrong or names[0])!r} names neither it nor a script of it")
        yield table


def verified(folder: Path, chosen: Sequence[tuple[Table, Row]], config: Config, jobs: int) -> Iterator[Verified]:
    """The state of each finding, in order; *jobs* scripts run at a time."""

    def one(table: Table, row: Row) -> Verified:
        subject = f"{table.compiler}-{table.frontend}"
        state, said = state_of(folder / subject / f"{row.name}.py", table.compiler, row, config)
        return Verified(subject, row.name, state, one_line(said, 200))

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(one, *each) for each in chosen]
        try:
            for number, future in enumerate(futures, 1):
                yield future.result()
                doing(f"ran {number:,} of {plural(len(futures), 'script')}")
        finally:
            pool.shutdown(cancel_futures=True)


def state_of(script: Path, compiler: str, row: Row, config: Config) -> tuple[State, str]:
    """What *script* shows, and its own words for it."""
    if not script.is_file():
        raise UserError(f"{script} is missing; its table has a row for it")
    try:
        ended, output = run_script(script, config, compiler)
    except EnvironmentBroken as error:
        return State.MISSING, str(error)
    if not isinstance(ended, int):
        return (State.FAILS if ended[0] is row.verdict else State.OTHERWISE), ended[1]
    if ended == 0:
        return State.MENDED, "the script ends without a failure"
    last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
    lacks = _LACKS.search(output)
    if lacks is not None and lacks[0] not in row.summary and lacks[0] in last:
        return State.MISSING, last
    said = f"the process ended with {signal_name(-ended)}" if ended < 0 else last
    return (State.FAILS if _as_said(ended, output, row) else State.OTHERWISE), said


def _as_said(ended: int, output: str, row: Row) -> bool:
    if ended < 0:
        named = _SIGNAL.search(row.summary)
        return row.verdict is Verdict.ABORT and (named is None or named[0] == signal_name(-ended))
    if row.verdict is Verdict.INCONSISTENT:
        return "AssertionError" in output
    words = set(_WORD.findall(row.summary))
    return row.verdict is Verdict.CRASH and sum(word in output for word in words) >= _SHARE * len(words)


def _document(found: Iterable[Verified]) -> JsonObject:
    rows = [{"subject": each.subject, "name": each.name, "state": each.state.value, "said": each.said} for each in found]
    return {"schema": SCHEMA, "counts": dict(Counter(str(row["state"]) for row in rows)), "findings": rows}


def _print(found: Sequence[Verified]) -> None:
    subjects = sorted({each.subject for each in found})
    counts = Counter((each.subject, each.state) for each in found)
    lines = [[subject, *(f"{counts[subject, state]:,}" for state in State)] for subject in subjects]
    print_table(["subject", *(state.value for state in State)], lines)
    for each in found:
        if each.state is not State.FAILS:
            echo(f"{each.subject}/{each.name}: {each.state.value}: {summary(each.said)}")
    say(f"{plural(len(found), 'finding')}: " + ", ".join(f"{s.value}: {n:,}" for s in State if (n := sum(e.state is s for e in found))))
