"""`opera replay`: calls recorded instances again, and counts those with the recorded outcome."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import LIBRARY, SOURCE
from opera.cli.options import JOBS, Count, Duration, Size, common
from opera.config import load_config
from opera.console import doing, echo, one_line, plural, print_json, print_table
from opera.corpus.selection import Chosen, Selection, choose
from opera.errors import Exit
from opera.extensions.replay.calls import Caller, Replay, ReplayMismatch, Share
from opera.instance import Outcome
from opera.store import Corpus, Workspace, queries
from opera.store.database import open_workspace
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.process import Limits

SCHEMA = "replay/1"
_ALL = "all"


@click.command("replay", cls=HeadedCommand)
@click.option("--lib", "library", type=LIBRARY, metavar="NAME", required=True, help="Library whose instances to call.")
@click.option("--source", type=SOURCE, metavar="NAME", help="Select only instances of this source.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--cap", type=Count(), metavar="N", help="Call at most N instances of each operator, chosen for variety; by default all.")
@click.option("--limit", type=Count(), metavar="N", help="Call at most N instances, chosen for variety; by default all.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel workers.")
@click.option("--timeout", type=Duration(), default=30.0, show_default="30s", help="Time limit of each call.")
@click.option(
    "--memory", type=Size(), default=4 * 2**30, show_default="4G", help="Memory limit of each worker, with all processes that it starts."
)
@click.option("--show", type=Count(0), metavar="N", default=30, show_default=True, help="Print at most N causes.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@common
def command(
    library: str,
    source: str | None,
    keyword: str | None,
    cap: int | None,
    limit: int | None,
    jobs: int,
    timeout: float,
    memory: int,
    show: int,
    quiet: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Call recorded instances again in their own library, from the record alone.

    No compiler is needed. OPERA prints the share of instances that do again what was recorded, and the causes for the others.
    """
    with open_workspace(workspace, write=False) as space:
        rows = choose(space, Selection(library, source, keyword, cap=cap, limit=limit), seed)
        replay = Replay(queries.sources_by_instance(space, library), _exceptions(space, rows))
        began = time.monotonic()
        with Caller(space, load_config(), library, jobs=jobs, limits=Limits(stage=timeout, memory=memory), seed=seed) as caller:
            for done, called in enumerate(caller.call(rows), 1):
                replay.add([called])
                doing(f"{done:,} of {len(rows):,} called")
        seconds = time.monotonic() - began
    document: JsonObject = {
        "schema": SCHEMA,
        "library": library,
        "versions": caller.versions,
        "seed": seed,
        "instances": len(rows),
        "seconds": round(seconds, 3),
        "shares": [{**asdict(each), "share": round(each.share, 6)} for each in replay.shares()],
        "causes": [asdict(each) for each in replay.causes()],
    }
    if as_json:
        print_json(document)
    else:
        _print(library, replay.shares(), replay.causes(), show)
        echo(f"{library}: {plural(len(rows), 'instance')} called in {seconds:.1f} s, {len(rows) / seconds:,.0f} a second")
    return Exit.CLEAN


def _exceptions(space: Workspace, rows: list[Chosen]) -> dict[str, str]:
    """The recorded exception types of the instances that raised."""
    corpus = Corpus(space)
    return {row.id: corpus.get(row.id).exception or "" for row in rows if row.outcome == Outcome.RAISED.value}


def _print(library: str, shares: list[Share], causes: list[ReplayMismatch], show: int) -> None:
    print_table(
        ["source", "recorded as", "instances", "as recorded", "share", "same exception"],
        [
            [
                each.source or _ALL,
                each.recorded,
                f"{each.instances:,}",
                f"{each.as_recorded:,}",
                f"{each.share:.2%}",
                f"{each.same_exception:,}" if each.recorded == Outcome.RAISED.value else "",
            ]
            for each in shares
        ],
    )
    if causes and show:
        echo()
        rows = [
            [f"{each.count:,}", each.recorded, each.reason, f"{each.exception}: {one_line(each.message)}".rstrip(": "), each.example[:12]]
            for each in causes[:show]
        ]
        print_table(["count", "recorded as", "reason", "detail", "example"], rows, elastic=3)
        if len(causes) > show:
            echo(f"… {len(causes) - show:,} more causes; --show {len(causes)} prints them")
    echo()
