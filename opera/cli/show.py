"""`opera show`: one finding, test or instance in full."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import FINDING
from opera.cli.options import common
from opera.console import echo, print_json
from opera.errors import Exit
from opera.report import views
from opera.report.details import resolve
from opera.report.words import scrub
from opera.store.database import open_workspace


@click.command("show", cls=HeadedCommand)
@click.argument("identity", type=FINDING, metavar="ID")
@common
def command(identity: str, workspace: Path, as_json: bool) -> int:
    """Show a finding, a test or an instance in full.

    ID is the id of one of them; any unambiguous prefix works.
    """
    with open_workspace(workspace, write=False) as space:
        target = resolve(space, identity)
        view: views.ShowView
        if target.finding is not None:
            view = views.FindingView(space, str(workspace), target.finding)
        elif target.test is not None:
            view = views.TestView(space, str(workspace), target.test)
        else:
            view = views.InstanceView(space, str(workspace), target.instance or "")
        if as_json:
            print_json(scrub(view.document()))
        else:
            for line in view.lines():
                echo(line)
    return Exit.CLEAN
