"""`opera verify`: which recorded findings their scripts still show, each in the environment of its compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, common
from opera.config import Config, load_config
from opera.console import echo, one_line, plural, print_json, print_table, say
from opera.corpus.selection import selector
from opera.errors import Exit, NothingSelected
from opera.extensions.findings.recorded import Row, State, Table, in_order, shown, tables
from opera.oracles.fingerprint import summary
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores

SCHEMA = "verify/1"


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
    of its compiler, with the limits of `opera reproduce`. Exit with 1 if a finding fails otherwise, or is mended and no row says so.
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


def verified(folder: Path, chosen: Sequence[tuple[Table, Row]], config: Config, jobs: int) -> Iterator[Verified]:
    """The state of each finding, in order; *jobs* scripts run at a time."""

    def one(table: Table, row: Row) -> Verified:
        found = shown(folder / table.subject / f"{row.name}.py", table.compiler, row, config)
        return Verified(table.subject, row.name, found.state, one_line(found.said, 200))

    return in_order([partial(one, *each) for each in chosen], jobs, "ran {} of {} scripts")


def _document(found: Iterable[Verified]) -> JsonObject:
    rows = [{"subject": each.subject, "name": each.name, "state": each.state.value, "said": each.said} for each in found]
    return {"schema": SCHEMA, "counts": dict(Counter(str(row["state"]) for row in rows)), "findings": rows}


def _print(found: Sequence[Verified]) -> None:
    subjects = sorted({each.subject for each in found})
    counts = Counter((each.subject, each.state) for each in found)
    lines = [[subject, *(f"{counts[subject, state]:,}" for state in State)] for subject in subjects]
    print_table(["subject", *(state.value for state in State)], lines)
    for each in found:
        if each.state not in (State.FAILS, State.FIXED):
            echo(f"{each.subject}/{each.name}: {each.state.value}: {summary(each.said)}")
    say(f"{plural(len(found), 'finding')}: " + ", ".join(f"{s.value}: {n:,}" for s in State if (n := sum(e.state is s for e in found))))
