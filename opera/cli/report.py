"""`opera report`: lists the findings on the terminal, or writes them as JSON, HTML, JUnit, SARIF or Markdown."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from opera.cli.options import common
from opera.config import load_config
from opera.console import check_outputs, plural, print_json, say, write
from opera.errors import Exit
from opera.report import ci
from opera.report.html import write_html
from opera.report.overview import overview
from opera.report.scripts import ModelSources, write_script
from opera.report.terminal import document, print_overview
from opera.store.database import open_workspace
from opera.store.queries import Scope

_ROWS = 30
_MANY = 30
"""Findings whose scripts take so long that a person is told what is going on."""


@click.command("report")
@click.option("--campaign", metavar="ID", help="Select only results of this campaign; any unambiguous prefix of its id works.")
@click.option("--compiler", metavar="NAME", help="Select only results of this compiler.")
@click.option("--frontend", metavar="NAME", help="Select only results of this model format.")
@click.option(
    "--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write one self-contained HTML page to this file."
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write JUnit XML to this file: one suite per subject, one case per operator.",
)
@click.option("--sarif", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write SARIF 2.1.0 to this file.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write a Markdown summary to this file.")
@click.option("--no-scripts", is_flag=True, help="Write the HTML page without scripts that `opera reproduce` has not written yet.")
@click.option("--all", "everything", is_flag=True, help=f"Print all findings, not only the first {_ROWS} of each subject.")
@common
def command(
    campaign: str | None,
    compiler: str | None,
    frontend: str | None,
    html: Path | None,
    junit: Path | None,
    sarif: Path | None,
    markdown: Path | None,
    no_scripts: bool,
    everything: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """List the findings: the failure, its frequency, and the command that reproduces it.

    The tests that are not findings follow, with the reasons.
    """
    check_outputs(as_json, html, junit, sarif, markdown)
    with open_workspace(workspace, write=False) as space:
        view = overview(space, Scope(campaign, compiler, frontend))
        if html is not None and no_scripts:
            write_html(html, space, str(workspace), view)
        elif html is not None:
            say(
                f"writing scripts of {plural(len(view.findings), 'finding')}; --no-scripts leaves them out",
                quiet=len(view.findings) < _MANY,
            )
            with ModelSources(space, load_config()) as sources:
                write_html(html, space, str(workspace), view, partial(write_script, space, sources))
    for path, form in ((junit, ci.junit), (sarif, ci.sarif), (markdown, ci.markdown)):
        if path is not None:
            write(path, form(view, str(workspace)))
    written = [path for path in (html, junit, sarif, markdown) if path is not None]
    if as_json:
        print_json(document(view))
    elif not written:
        print_overview(view, str(workspace), rows=None if everything else _ROWS)
    for path in written:
        say(f"wrote {path}: {plural(len(view.findings), 'finding')} from {plural(view.tests, 'test')}")
    return Exit.CLEAN
