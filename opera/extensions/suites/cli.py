"""`opera export pytest`: writes findings and passing instances as a suite that a compiler's project can merge."""

from __future__ import annotations

from pathlib import Path

import click

from opera.cli.help import HeadedCommand, heading
from opera.cli.names import FINDING
from opera.cli.options import Count, common
from opera.cli.selecting import selecting
from opera.cli.trusting import trusting, with_trust
from opera.config import load_config
from opera.console import plural, print_json, say
from opera.errors import Exit, UserError
from opera.extensions.suites.cases import Request, candidates
from opera.extensions.suites.export import Exported, Form, export
from opera.extensions.suites.plain import LINE_LENGTH, Style, header_of
from opera.extensions.suites.project import project_of
from opera.extensions.suites.refresh import refresh as refresh_marks
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.triage.baseline import Baseline
from opera.untrusted import Malformed, read_file

SCHEMA = "export-pytest/1"
REFRESH_SCHEMA = "refresh-pytest/1"
_SELECTION = heading("Selection")
_LOOK = heading("Form")
_REFRESH = heading("Refresh")
_HEADER_BYTES = 64 * 2**10


@click.command("pytest", cls=HeadedCommand)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@_SELECTION("--finding", "findings", type=FINDING, metavar="ID", multiple=True, help="Export this finding; may be repeated.")
@selecting
@_REFRESH("--refresh", is_flag=True, help="Correct the marks of the suite in DIR from the results of a CI, and export nothing.")
@_REFRESH(
    "--junit",
    "junit",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    multiple=True,
    help="Read results of pytest from this file, for --refresh; may be repeated.",
)
@_LOOK(
    "--style",
    "form",
    type=click.Choice([each.value for each in Form]),
    default=Form.PLAIN.value,
    show_default=True,
    help="Write tests for pytest alone, for OPERA's plug-in, for IREE's suite of ONNX operators, or for ONNX's backend runner.",
)
@_LOOK("--no-run", is_flag=True, help="Write the tests without running them; nothing is known of them then.")
@_LOOK("--recompute", is_flag=True, help="Compute expected outputs with the library in each test, instead of keeping them.")
@_LOOK(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Put the links in the notes of this baseline into the tests of the findings.",
)
@_LOOK("--header", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Begin each file with this text, as comments.")
@_LOOK("--marks", metavar="NAMES", default="", help="Give each test these marks of pytest, separated by commas.")
@_LOOK(
    "--line-length",
    type=Count(80, 320),
    metavar="N",
    help="Write lines of at most N characters, where possible; by default as ruff or Black of the project around DIR, else 88.",
)
@trusting
@common
def command(
    folder: Path,
    findings: tuple[str, ...],
    campaign: str | None,
    compiler: str | None,
    frontend: str | None,
    keyword: str | None,
    passing: int,
    no_failures: bool,
    form: str,
    refresh: bool,
    junit: tuple[Path, ...],
    no_run: bool,
    recompute: bool,
    trusted: tuple[str, ...],
    root: Path | None,
    baseline: Path | None,
    header: Path | None,
    marks: str,
    line_length: int | None,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Write findings and passing instances as tests for pytest.

    The folder DIR needs no OPERA: copy it into the repository of the compiler. A finding becomes one test that is expected to fail. Each
    test runs before it is exported. Exit with 3 if tests were lost, or could not be run.
    """
    if refresh != bool(junit):
        raise UserError("--refresh and --junit FILE belong together; give both, or neither")
    if refresh:
        _refresh(folder, junit, as_json)
        return Exit.CLEAN
    if no_failures and findings:
        raise UserError("--no-failures and --finding exclude each other; leave one of them out")
    project = project_of(folder)
    line_length = line_length or (project.line_length if project is not None else None) or LINE_LENGTH
    style = Style(_header(header), tuple(name.strip() for name in marks.split(",") if name.strip()), line_length)
    notes = None if baseline is None else Baseline.existing(baseline)
    request = Request(findings, Scope(campaign, compiler, frontend), keyword, passing, not no_failures, notes)
    with open_workspace(workspace, write=False) as space:
        found = candidates(space, request, seed)
        config = with_trust(load_config(), "pytorch", trusted, root)
        exported = export(space, config, folder, found, Form(form), style, recompute=recompute, run=not no_run)
    _report(exported, folder, as_json)
    return Exit.BROKEN_ENVIRONMENT if exported.lost else Exit.CLEAN


def _header(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return header_of(read_file(path, _HEADER_BYTES).decode())
    except (Malformed, OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as a header ({error}); name a text file") from error


def _refresh(folder: Path, junit: tuple[Path, ...], as_json: bool) -> None:
    done = refresh_marks(folder, junit)
    kinds = {"removed": done.removed, "added": done.added, "changed": done.changed, "unclear": done.unclear}
    if as_json:
        print_json({"schema": REFRESH_SCHEMA, "folder": str(folder), **kinds, "unknown": done.unknown})
        return
    say(f"marks in {folder}: {len(done.removed):,} removed, {len(done.added):,} added, {len(done.changed):,} changed")
    for kind, names in kinds.items():
        for name in names:
            say(f"  {kind}: {name}")
    if done.unknown:
        say(f"not of this suite: {plural(done.unknown, 'result')}")


def _report(exported: Exported, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "folder": str(folder),
                "green": exported.green,
                "burn_down": exported.failing,
                "left_out": dict(exported.left_out),
                "elsewhere": exported.elsewhere,
                "lost": dict(exported.lost),
                "ran": exported.ran,
                "notes": list(exported.notes),
            }
        )
        return
    tests = plural(exported.green + exported.failing, "test")
    what = f"{exported.green:,} {'pass' if exported.ran else 'passed in their campaign'}, {plural(exported.failing, 'known failure')}"
    say(f"{tests} written to {folder}: {what}{'' if exported.ran else '; no test ran, so nothing is known of them'}")
    for reason, count in exported.left_out.items():
        say(f"left out: {plural(count, 'test')}: {reason}")
    for reason, count in exported.lost.items():
        say(f"LOST: {plural(count, 'test')}: {reason}")
    for note in exported.notes:
        say(note)
    if exported.elsewhere:
        say(f"left out: {plural(exported.elsewhere, 'finding')} of exporters and libraries; --finding ID exports one")
