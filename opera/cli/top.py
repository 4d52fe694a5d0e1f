"""`opera top`: the progress of a running campaign, or the cost of a finished one."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.options import Count, common
from opera.console import doing, print_json, print_table, terminal
from opera.errors import Exit, UserError
from opera.run.progress import board
from opera.run.status import SCHEMA, StatusDocument, is_alive, read_status
from opera.store import Campaign, Campaigns, Workspace
from opera.store.database import open_workspace
from opera.store.queries import cost_of, slowest_of
from opera.triage.known_failures import earlier, failures_of, match

SLOWEST = "slowest/1"
_EVERY = 1.0


@click.command("top", cls=HeadedCommand)
@click.argument("campaign", required=False)
@click.option("--once", is_flag=True, help="Print the current state once, and end.")
@click.option(
    "--operators", type=Count(0), metavar="N", default=10, show_default=True, help="List at most N operators, the most expensive first."
)
@click.option("--slowest", type=Count(1), metavar="N", help="List the N slowest tests; by default, show the whole campaign.")
@common
def command(campaign: str | None, once: bool, operators: int, slowest: int | None, workspace: Path, as_json: bool) -> int:
    """Show the progress, verdicts, workers and cost of the running campaign, or of the last one.

    CAMPAIGN selects a stored campaign by its id, or by an unambiguous prefix of the id, and shows all its parts together. On a terminal,
    the display follows a running campaign until it ends. The state is starting, running, complete, stopped, or lost if the driver is gone.
    """
    if slowest is not None:
        return _show_slowest(workspace, campaign, slowest, as_json=as_json)
    status = _running(workspace) if campaign is None else _stored(workspace, campaign, operators)
    if as_json:
        print_json(status)
        return Exit.CLEAN
    if campaign is not None or once or not sys.stdout.isatty():
        _print(status, operators)
        return Exit.CLEAN
    _follow(workspace, status, operators)
    return Exit.CLEAN


def _show_slowest(folder: Path, prefix: str | None, count: int, *, as_json: bool) -> int:
    """Lists the slowest tests of the campaign that *prefix* begins, by default of the running or last one."""
    wanted = prefix if prefix is not None else str(_running(folder)["campaign"])
    with open_workspace(folder, write=False) as space:
        campaign = _chosen(space, wanted)
        tests = slowest_of(space, campaign.id, count)
    if as_json:
        print_json({"schema": SLOWEST, "campaign": campaign.id, "tests": [asdict(each) for each in tests]})
    else:
        rows = [
            (f"{each.seconds:.2f}", each.verdict, f"{each.stage} {each.stage_seconds:.2f}", each.api, each.instance[:12]) for each in tests
        ]
        print_table(("seconds", "verdict", "longest stage", "operator", "instance"), rows)
    return Exit.CLEAN


def _print(status: StatusDocument, operators: int) -> None:
    terminal().print(board(status, operators))


def _follow(workspace: Path, status: StatusDocument, operators: int) -> None:
    """Refreshes the status every second until the campaign has ended."""
    from rich.live import Live

    doing(None)
    with Live(board(status, operators), console=terminal(), auto_refresh=False) as live:
        while status["state"] in ("starting", "running"):
            time.sleep(_EVERY)
            status = _running(workspace)
            live.update(board(status, operators), refresh=True)


def _running(workspace: Path) -> StatusDocument:
    """The status file, with the state `lost` if the process that wrote it is gone."""
    status = read_status(workspace)
    if status["campaign"] is None and status["state"] == "stopped":
        raise UserError(
            f"the last campaign in {workspace}, of {status['subject']}, ended before its first test; the same `opera run` gives the reason,"
            " `opera ls` lists earlier campaigns, and `opera top CAMPAIGN` shows one campaign"
        )
    if status["state"] in ("starting", "running") and not is_alive(status):
        status.update(state="lost", workers=[])
    return status


def _stored(folder: Path, prefix: str, operators: int) -> StatusDocument:
    with open_workspace(folder, write=False) as space:
        return _document(space, _chosen(space, prefix), operators)


def _chosen(space: Workspace, prefix: str) -> Campaign:
    """The campaign whose id begins with *prefix*."""
    campaigns = [each for each in Campaigns(space).all() if each.id.startswith(prefix)]
    if len(campaigns) != 1:
        known = ", ".join(each.id for each in Campaigns(space).all()) or "none"
        raise UserError(f"{'no' if not campaigns else 'more than one'} campaign begins with {prefix!r}; choose one of: {known}")
    return campaigns[0]


def _document(space: Workspace, campaign: Campaign, operators: int) -> StatusDocument:
    verdicts = Campaigns(space).verdicts(campaign.id)
    done = sum(verdicts.values())
    cost = cost_of(space, campaign.id, operators)
    found = match(earlier(campaign.known, ""), failures_of(Campaigns(space).results(campaign.id, failures=True), space))
    return {
        "schema": SCHEMA,
        "state": "complete" if campaign.complete else "stopped",
        "stopped_by": campaign.stopped_by,
        "campaign": campaign.id,
        "subject": f"{campaign.compiler}/{campaign.frontend}",
        "shard": campaign.settings.get("shard"),
        "pid": None,
        "started": campaign.started,
        "updated": None,
        "seconds": round(campaign.seconds, 3),
        "tests": {"total": done, "done": done, "before": 0},
        "rate": {"now": 0.0, "mean": round(done / campaign.seconds, 3) if campaign.seconds else 0.0},
        "seconds_left": None,
        "verdicts": verdicts,
        "new_findings": len(found.unknown),
        "findings": [],
        "workers": [],
        "cost": {
            "stages": {stage: round(seconds, 3) for stage, seconds in cost.stages.items()},
            "operators": [{"api": api, "seconds": round(seconds, 3), "tests": tests} for api, seconds, tests in cost.operators],
        },
        "driver": None,
    }
