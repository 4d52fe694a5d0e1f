"""`opera evaluate`: compares strategies on a campaign that ran a whole corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import CAMPAIGN, STRATEGY
from opera.cli.options import JOBS, SEEDS, OutputFile, common
from opera.config import load_config
from opera.console import STDOUT, check_outputs, echo, plural, print_json, print_table, say, write
from opera.errors import Exit, UserError
from opera.extensions.research.artifact import read_artifact, subjects_in
from opera.extensions.research.compare import Figures, as_run, available, detections, figures
from opera.extensions.research.metrics import QUARTERS
from opera.extensions.research.orders import as_csv, as_svg, read_ranking
from opera.extensions.research.recording import RecordedRun, choose, history_of, read_campaign, read_recorded, write_recorded
from opera.prioritize import get_strategy
from opera.store import Campaigns
from opera.store.database import open_workspace
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores

SCHEMA = "evaluate/1"
_AS_RUN = "(as it ran)"
_SHARES = (0.5, 0.8)
"""Shares of the findings for which the tests and seconds until then are printed."""


@click.command("evaluate", cls=HeadedCommand)
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--campaign", type=CAMPAIGN, metavar="ID", help="Campaign of the workspace; by default its only complete one.")
@click.option(
    "--artifact",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Folder of the paper's released data, e.g. data/published.",
)
@click.option("--subject", metavar="NAME", help="Subject of --artifact, e.g. tvm-onnx.")
@click.option(
    "--strategy",
    "strategies",
    type=STRATEGY,
    multiple=True,
    metavar="NAME",
    help="Strategy to evaluate (repeatable); by default all that can rank the campaign.",
)
@click.option(
    "--ranking",
    "rankings",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Order of another tool to evaluate: a file of `opera export ranking`, or one id of an instance a line (repeatable).",
)
@click.option(
    "--seeds", type=SEEDS, metavar="N", default=30, show_default=True, help="Number of orders of each strategy, under the seeds 0 to N - 1."
)
@click.option(
    "--history",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Recorded campaign whose failures are known beforehand, e.g. of an earlier version (repeatable).",
)
@click.option(
    "-j",
    "--jobs",
    type=JOBS,
    metavar="N",
    default=lambda: min(4, usable_cores()),
    show_default="cores, at most 4",
    help="Number of parallel processes.",
)
@click.option(
    "--csv", "table", type=OutputFile(), metavar="FILE", help="Write the figures of each strategy and seed as CSV; - is standard output."
)
@click.option("--plot", "picture", type=OutputFile(), metavar="FILE", help="Draw the findings over the tests as SVG; - is standard output.")
@click.option(
    "--record",
    type=OutputFile(),
    metavar="FILE",
    help="Write the campaign to this file as gzipped JSON Lines, and stop.",
)
@click.option(
    "--coverage",
    is_flag=True,
    help="With --record: also measure which statements of the frontend each test runs. Refused for frontends in C++.",
)
@common
def command(
    file: Path | None,
    campaign: str | None,
    artifact: Path | None,
    subject: str | None,
    strategies: tuple[str, ...],
    seeds: int,
    jobs: int,
    history: tuple[Path, ...],
    rankings: tuple[Path, ...],
    table: Path | None,
    picture: Path | None,
    record: Path | None,
    coverage: bool,
    workspace: Path,
    as_json: bool,
) -> int:
    """Compare strategies by how early they reveal the findings of a complete campaign.

    FILE is a recorded campaign. Without FILE, OPERA takes the campaign of --artifact, or one of the workspace. The row `(as it ran)` is
    the order in which the campaign itself ran, if that is known.
    """
    check_outputs(as_json, table, picture)
    for name in strategies:
        get_strategy(name)
    if coverage and (record is None or file is not None or artifact is not None):
        raise UserError("--coverage needs --record; add --record FILE")
    if record == STDOUT:
        raise UserError("standard output cannot hold a recorded campaign; give --record the name of a file")
    recorded = _covered(workspace, campaign) if coverage else _read(file, campaign, artifact, subject, workspace)
    if record is not None:
        write_recorded(recorded, record)
        say(
            f"{plural(len(recorded.tests), 'test')} and {plural(len(recorded.faults), 'finding')} of {recorded.subject} written to {record}"
        )
        if as_json:
            print_json({**_head(recorded), "file": str(record), "strategies": {}})
        return Exit.CLEAN
    known = history_of(map(read_recorded, history))
    orders = detections(recorded, strategies or available(recorded), seeds, known, jobs)
    orders |= {each.stem: [read_ranking(each, recorded)] for each in rankings}
    found = {name: figures(each, timed=recorded.timed) for name, each in orders.items()}
    itself = as_run(recorded)
    if table is not None:
        write(table, as_csv(orders, timed=recorded.timed))
    if picture is not None:
        write(picture, as_svg(orders, recorded.subject))
    if as_json:
        print_json(
            {
                **_head(recorded),
                "seeds": seeds,
                "strategies": {name: _document(each) for name, each in found.items()},
                "as_run": None if itself is None else _document(itself),
            }
        )
    elif STDOUT not in (table, picture):
        _print(recorded, found if itself is None else {**found, _AS_RUN: itself}, seeds)
    return Exit.CLEAN


def _covered(workspace: Path, prefix: str | None) -> RecordedRun:
    from opera.extensions.research.frontend import measure

    with open_workspace(workspace, write=False) as space:
        campaign = choose(Campaigns(space).all(), prefix)
        return read_campaign(space, campaign.id, measure(space, load_config(), campaign))


def _read(file: Path | None, campaign: str | None, artifact: Path | None, subject: str | None, workspace: Path) -> RecordedRun:
    given = [name for name, value in (("FILE", file), ("--campaign", campaign), ("--artifact", artifact)) if value is not None]
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} name different campaigns; give one of these options")
    if artifact is not None:
        if subject is None:
            raise UserError(f"--artifact needs --subject; choose one of: {', '.join(subjects_in(artifact)) or 'none'}")
        return read_artifact(artifact, subject)
    if subject is not None:
        raise UserError("--subject belongs to --artifact; choose a campaign of the workspace with --campaign")
    if file is not None:
        return read_recorded(file)
    with open_workspace(workspace, write=False) as space:
        return read_campaign(space, campaign)


def _head(recorded: RecordedRun) -> JsonObject:
    return {
        "schema": SCHEMA,
        "subject": recorded.subject,
        "tests": len(recorded.tests),
        "faults": len(recorded.faults),
        "facts": dict(recorded.facts),
    }


def _document(figures: Figures) -> JsonObject:
    return {
        "apfd": figures.apfd.document(),
        "apfdc": None if figures.apfdc is None else figures.apfdc.document(),
        **{f"rauc_{percent}": figures.rauc[percent].document() for percent in QUARTERS},
        "tests_to_fault": [each.document(1) for each in figures.tests],
        "seconds_to_fault": [each.document(3) for each in figures.seconds],
    }


def _print(recorded: RecordedRun, found: Mapping[str, Figures], seeds: int) -> None:
    ranked = sorted(found.items(), key=lambda item: -item[1].apfd.mean)
    marks = sorted({math.ceil(share * len(recorded.faults)) for share in _SHARES})
    until = (f"to {plural(mark, 'finding')}" for mark in marks)
    print_table(
        ["strategy", "APFD", "95 %", "sd", "APFDc", *(f"RAUC-{percent}" for percent in QUARTERS), *until],
        [_row(name, each, marks) for name, each in ranked],
    )
    counts = f"{plural(len(recorded.tests), 'test')}, {plural(len(recorded.faults), 'finding')}, {plural(seeds, 'seed')}"
    echo(f"{recorded.subject}: {counts}")


def _row(name: str, each: Figures, marks: Sequence[int]) -> list[str]:
    interval = f"{each.apfd.low:.3f} to {each.apfd.high:.3f}"
    cost = "" if each.apfdc is None else f"{each.apfdc.mean:.3f}"
    tests = (f"{each.tests[mark - 1].mean:,.0f} tests" for mark in marks)
    seconds = [f", {each.seconds[mark - 1].mean:,.0f} s" if each.seconds else "" for mark in marks]
    until = (f"{count}{time}" for count, time in zip(tests, seconds, strict=True))
    return [name, f"{each.apfd.mean:.3f}", interval, f"{each.apfd.sd:.3f}", cost, *(f"{each.rauc[p].mean:.3f}" for p in QUARTERS), *until]
