"""`opera report`: lists the findings on the terminal, or writes them as JSON, HTML, JUnit, SARIF or Markdown."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import CAMPAIGN, COMPILER, FRONTEND
from opera.cli.options import common
from opera.cli.report_files import report_files
from opera.console import print_json
from opera.errors import Exit
from opera.report.html import ReportFiles
from opera.report.overview import only_new, overview, with_known
from opera.report.terminal import document, print_overview
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.triage.baseline import Baseline

_ROWS = 30


@click.command("report", cls=HeadedCommand)
@click.option(
    "--campaign", type=CAMPAIGN, metavar="ID", help="Select only results of this campaign; any unambiguous prefix of its id works."
)
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler.")
@click.option("--frontend", type=FRONTEND, metavar="NAME", help="Select only results of this model format.")
@report_files
@click.option("--new", "new", is_flag=True, help="List only new findings: those that are not known, see --baseline.")
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Tell the findings that this file lists apart, as known. Without it, --new selects the newest campaign of each subject, and known"
    " findings are those that the workspace had before.",
)
@click.option("--no-scripts", is_flag=True, help="Write the HTML page without scripts that `opera reproduce` has not written yet.")
@click.option("--all", "everything", is_flag=True, help=f"Print all findings, not only the first {_ROWS} of each subject.")
@common
def command(
    campaign: str | None,
    compiler: str | None,
    frontend: str | None,
    files: ReportFiles,
    new: bool,
    baseline: Path | None,
    no_scripts: bool,
    everything: bool,
    workspace: Path,
    as_json: bool,
) -> int:
    """List the findings: the failure, its frequency, and the command that reproduces it.

    The tests that are not findings follow, with the reasons.
    """
    files.check(as_json=as_json)
    known = None if baseline is None else Baseline.existing(baseline)
    with open_workspace(workspace, write=False) as space:
        view = overview(space, Scope(campaign, compiler, frontend, newest=new and known is None))
        if new or known is not None:
            view = with_known(view, known, space)
        if new:
            view = only_new(view)
        files.write(space, str(workspace), view, scripts=not no_scripts)
    if as_json:
        print_json(document(view))
    elif not files.paths:
        print_overview(view, str(workspace), rows=None if everything else _ROWS)
    return Exit.CLEAN
