"""`opera ls`: what the workspace holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from opera.errors import Exit
from opera.options import common, print_json
from opera.report.census import Census, Library, Ran, census
from opera.report.tables import print_table
from opera.report.text import one_line, plural
from opera.store.database import open_workspace

SCHEMA = "ls/1"


@click.command("ls")
@click.option("--lib", "library", help="Only instances of this library, and campaigns of its model format.")
@click.option("--limit", type=click.IntRange(0), default=10, show_default=True, help="Most operators to list of each library.")
@common
def command(library: str | None, limit: int, workspace: Path, seed: int, as_json: bool) -> int:
    """Lists sources, operators and campaigns of the workspace."""
    with open_workspace(workspace, write=False) as space:
        held = census(space, library)
    if as_json:
        print_json(_document(held, limit))
    else:
        _print(held, limit)
    return Exit.CLEAN


def _document(held: Census, limit: int) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "libraries": [
            {
                "library": each.name, "instances": each.instances, "operators": len(each.operators),
                "skew": {f"top {share.top}": round(share.share, 4) for share in each.skew},
                "largest": [{"api": operator.api, "instances": operator.instances} for operator in each.operators[:limit]],
            }
            for each in held.libraries
        ],
        "sources": [
            {
                "library": each.library, "source": each.name, "instances": each.instances, "operators": each.operators,
                "calls": each.calls, "dropped": each.dropped,
            }
            for each in held.sources
        ],
        "campaigns": [
            {
                "id": each.campaign.id, "compiler": each.campaign.compiler, "frontend": each.campaign.frontend, "tests": each.tests,
                "verdicts": dict(each.verdicts), "complete": each.campaign.complete, "stopped_by": each.campaign.stopped_by,
                "seconds": round(each.campaign.seconds, 3), "started": each.campaign.started,
            }
            for each in held.campaigns
        ],
    }  # fmt: skip


def _print(held: Census, limit: int) -> None:
    if held.sources:
        rows = [
            [each.library, one_line(each.name, 40), *(_number(n) for n in (each.instances, each.operators, each.calls, each.dropped))]
            for each in held.sources
        ]
        print_table(["library", "source", "instances", "operators", "calls seen", "dropped"], rows)
        click.echo()
    for library in held.libraries:
        _print_library(library, limit)
    if held.campaigns:
        print_table(["campaign", "subject", "tests", "state", "verdicts"], [_campaign(each) for each in held.campaigns])
    else:
        click.echo("no campaign has been run")


def _print_library(library: Library, limit: int) -> None:
    click.echo(f"{library.name}: {plural(library.instances, 'instance')} of {plural(len(library.operators), 'operator')}")
    shares = ", ".join(f"top {share.top}: {share.share:.0%}" for share in library.skew)
    click.echo(f"share of the most frequent operators: {shares}")
    if limit:
        shown = library.operators[:limit]
        rows = [[one_line(each.api, 80), f"{each.instances:,}", f"{each.instances / library.instances:.1%}"] for each in shown]
        print_table(["operator", "instances", "share"], rows)
        if len(library.operators) > limit:
            click.echo(f"… {len(library.operators) - limit:,} more; --limit {len(library.operators)} lists them")
    click.echo()


def _campaign(ran: Ran) -> list[str]:
    state = "complete" if ran.campaign.complete else f"stopped by {ran.campaign.stopped_by or 'an interruption'}"
    verdicts = ", ".join(f"{name} {count:,}" for name, count in sorted(ran.verdicts.items(), key=lambda item: (-item[1], item[0])))
    return [ran.campaign.id, f"{ran.campaign.compiler}/{ran.campaign.frontend}", f"{ran.tests:,}", state, verdicts]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
