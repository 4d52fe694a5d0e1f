"""`opera ls`: lists the sources, operators and campaigns of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import LIBRARY, SOURCE
from opera.cli.options import Count, Pattern, common
from opera.console import echo, one_line, plural, print_json, print_table, wrapped
from opera.corpus.selection import Selection
from opera.errors import Exit
from opera.report.overview import Census, LibraryCensus, Ran, census
from opera.run.status import running_campaign
from opera.store.database import open_workspace
from opera.store.queries import Occurred
from opera.untrusted import JsonObject

SCHEMA = "ls/1"


@click.command("ls", cls=HeadedCommand)
@click.option(
    "--lib", "library", type=LIBRARY, metavar="NAME", help="Select only instances of this library, and campaigns of its model format."
)
@click.option("--source", type=SOURCE, metavar="NAME", help="Select only instances of this source.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("--test", type=Pattern(), metavar="PATTERN", help="Also list the instances of tests that match this shell pattern.")
@click.option("--operators", is_flag=True, help="List all operators.")
@click.option("--limit", type=Count(0), metavar="N", default=10, show_default=True, help="List at most N operators of each library.")
@common
def command(
    library: str | None,
    source: str | None,
    keyword: str | None,
    test: str | None,
    operators: bool,
    limit: int,
    workspace: Path,
    as_json: bool,
) -> int:
    """List the sources, operators and campaigns of the workspace."""
    with open_workspace(workspace, write=False) as space:
        held = census(space, Selection(library, source, keyword, test))
    running = running_campaign(workspace)
    bound = None if operators else limit
    if as_json:
        print_json(_document(held, bound, tests=test is not None, running=running))
    else:
        _print(held, bound, running)
    return Exit.CLEAN


def _document(held: Census, limit: int | None, *, tests: bool, running: str | None) -> JsonObject:
    seen = (
        {
            "seen": [
                {
                    "instance": each.instance,
                    "library": each.library,
                    "api": each.api,
                    "source": each.source,
                    "test": each.test,
                    "calls": each.calls,
                }
                for each in held.seen
            ]
        }
        if tests
        else {}
    )
    return {
        "schema": SCHEMA,
        "libraries": [
            {
                "library": each.name,
                "instances": each.instances,
                "up_to_dtype": each.shapes,
                "operators": len(each.operators),
                "skew": {f"top {share.top}": round(share.share, 4) for share in each.skew},
                "largest": [
                    {"api": operator.api, "instances": operator.instances, "up_to_dtype": operator.shapes}
                    for operator in each.operators[:limit]
                ],
            }
            for each in held.libraries
        ],
        "sources": [
            {
                "library": each.library,
                "source": each.name,
                "instances": each.instances,
                "up_to_dtype": each.shapes,
                "operators": each.operators,
                "calls": each.calls,
                "dropped": each.dropped,
            }
            for each in held.sources
        ],
        **seen,
        "campaigns": [
            {
                "id": each.campaign.id,
                "compiler": each.campaign.compiler,
                "frontend": each.campaign.frontend,
                "build": each.campaign.build,
                "tests": each.tests,
                "verdicts": dict(each.verdicts),
                "complete": each.campaign.complete,
                "running": each.campaign.id == running,
                "stopped_by": each.campaign.stopped_by,
                "seconds": round(each.campaign.seconds, 3),
                "started": each.campaign.started,
            }
            for each in held.campaigns
        ],
    }


def _print(held: Census, limit: int | None, running: str | None) -> None:
    if held.sources:
        rows = [
            [
                each.library,
                one_line(each.name, 40),
                *(_number(n) for n in (each.instances, each.shapes, each.operators, each.calls, each.dropped)),
            ]
            for each in held.sources
        ]
        print_table(["library", "source", "instances", "up to dtype", "operators", "calls seen", "dropped"], rows)
        echo()
    for library in held.libraries:
        _print_library(library, limit)
    if held.seen:
        _print_seen(held.seen)
    if held.campaigns:
        builds = any(each.campaign.build for each in held.campaigns)
        header = ["campaign", "subject", *(["build"] if builds else []), "tests", "state", "verdicts"]
        print_table(header, [_campaign(each, builds=builds, running=running) for each in held.campaigns])
    else:
        echo("no campaign has run")


def _print_library(library: LibraryCensus, limit: int | None) -> None:
    echo(
        f"{library.name}: {plural(library.instances, 'instance')} of {plural(len(library.operators), 'operator')},"
        f" {library.shapes:,} up to dtype"
    )
    shares = ", ".join(f"top {share.top}: {share.share:.0%}" for share in library.skew)
    wrapped(f"share of the most frequent operators: {shares}")
    shown = library.operators[:limit]
    if shown:
        rows = [
            [one_line(each.api, 80), f"{each.instances:,}", f"{each.shapes:,}", f"{each.instances / library.instances:.1%}"]
            for each in shown
        ]
        print_table(["operator", "instances", "up to dtype", "share"], rows)
        if len(library.operators) > len(shown):
            echo(f"… {len(library.operators) - len(shown):,} more; --operators lists them")
    echo()


def _print_seen(seen: Sequence[Occurred]) -> None:
    rows = [[each.instance[:12], one_line(each.api, 60), each.source, one_line(each.test, 100), f"{each.calls:,}"] for each in seen]
    print_table(["instance", "operator", "source", "test", "calls"], rows, elastic=3)
    echo()


def _campaign(ran: Ran, *, builds: bool, running: str | None) -> list[str]:
    if ran.campaign.id == running:
        state = "running"
    else:
        state = "complete" if ran.campaign.complete else f"stopped by {ran.campaign.stopped_by or 'an interruption'}"
    verdicts = ", ".join(f"{name} {count:,}" for name, count in sorted(ran.verdicts.items(), key=lambda item: (-item[1], item[0])))
    build = [one_line(ran.campaign.build or "", 24)] if builds else []
    return [ran.campaign.id, f"{ran.campaign.compiler}/{ran.campaign.frontend}", *build, f"{ran.tests:,}", state, verdicts]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
