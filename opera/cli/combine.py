"""`opera combine`: joins the workspaces of several machines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from opera.cli.help import HeadedCommand
from opera.cli.options import common
from opera.console import echo, plural, print_json, say
from opera.difftest.settings import SHARD, campaign_id
from opera.errors import Exit, UserError
from opera.store import Campaigns
from opera.store.combine import Combined, combine
from opera.store.database import open_workspace

SCHEMA = "combine/1"
_SHOWN = 10
"""Rows that were left out and are named; `--json` has all."""


@click.command("combine", cls=HeadedCommand)
@click.argument("sources", nargs=-1, required=True, metavar="DIR ...", type=click.Path(path_type=Path, file_okay=False))
@common
def command(sources: tuple[Path, ...], workspace: Path, as_json: bool) -> int:
    """Add the workspaces DIR ... to the workspace: instances, results, campaigns, reductions.

    Parts of a campaign that were run with --shard become one campaign. If machines of different kinds ran the same test, one result
    counts, and the others are stored separately. OPERA only reads each DIR; it names and leaves out damaged rows.
    """
    for source in sources:
        if source.resolve() == workspace.resolve():
            raise UserError(f"{source} is the workspace to combine into; name another workspace with --workspace")
        open_workspace(source, write=False, foreign=True, checked=False).close()
    combined = Combined()
    with open_workspace(workspace, write=True) as space:
        for source in sources:
            say(f"adding {source}")
            combine(space, source.resolve(), _whole, combined)
        campaigns = {key: Campaigns(space).get(key) for key in combined.campaigns}
        tests = {key: sum(Campaigns(space).verdicts(key).values()) for key in combined.campaigns}
        machines = Campaigns(space).machines()
    for line in combined.left_out[:_SHOWN]:
        say(f"left out: {line}")
    if len(combined.left_out) > _SHOWN:
        say(f"left out: {len(combined.left_out) - _SHOWN:,} more rows")
    rows = [
        {
            "id": key,
            "subject": f"{campaign.compiler}/{campaign.frontend}",
            "tests": tests[key],
            "complete": campaign.complete,
            "parts": combined.parts.get(key),
        }
        for key, campaign in campaigns.items()
        if campaign is not None
    ]
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "results": combined.results,
                "campaigns": rows,
                "apart": combined.apart,
                "disagreements": sorted(set(combined.disagreements)),
                "machines": machines,
                "left_out": combined.left_out,
            }
        )
        return Exit.CLEAN
    echo(f"{plural(combined.results, 'result')} added from {plural(len(sources), 'workspace')}")
    for row in rows:
        parts = combined.parts.get(str(row["id"]))
        there = "" if parts is None else f", parts that are complete: {', '.join(parts) or 'none'}"
        state = "complete" if row["complete"] else "not complete"
        echo(f"campaign {row['id']}: {row['subject']}, {row['tests']:,} tests, {state}{there}")
    if combined.apart or combined.disagreements:
        echo(
            f"{plural(combined.apart, 'test')} have results of machines of several kinds, kept apart;"
            f" {len(set(combined.disagreements)):,} of the tests that ran twice had another result"
        )
    return Exit.CLEAN


def _whole(selection: Mapping[str, Any], versions: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str | None]:
    """The whole campaign of a part with this selection; a campaign that is not a part is its own whole."""
    whole = {key: value for key, value in selection.items() if key != SHARD}
    return campaign_id(whole, versions), whole, selection.get(SHARD)
