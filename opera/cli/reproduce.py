"""`opera reproduce ID`: writes a stand-alone script for a finding, runs it, and says whether it failed in the same way."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from opera.atomic import check_output, replacing
from opera.cli.help import HeadedCommand
from opera.cli.names import FINDING
from opera.cli.options import OutputFile, common
from opera.cli.trusting import trusting, with_trust
from opera.config import Config, load_config
from opera.console import STDOUT, check_outputs, complain, echo, print_json, print_text, say
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.oracles.verdict import Verdict
from opera.report.details import campaigns_of, finding_of, finding_with, renamed, resolve, result_of
from opera.report.reproducer import Attempt, ScriptCase, attempt, original, reduced, render
from opera.report.scripts import ModelSources
from opera.store import Campaigns, Workspace
from opera.store.campaigns import Reproduction
from opera.store.database import open_workspace
from opera.workers.folders import own_folder

SCHEMA = "reproduce/1"
_FAILED_TO_REPRODUCE = 1
_UNKNOWN: Mapping[str, Any] = {}


@click.command("reproduce", cls=HeadedCommand)
@click.argument("identity", type=FINDING, metavar="ID")
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="Write the script to this file; by default into reproducers/ in the workspace.",
)
@click.option("--no-run", is_flag=True, help="Write the script without running it.")
@trusting
@common
def command(
    identity: str,
    output: Path | None,
    no_run: bool,
    trusted: tuple[str, ...],
    root: Path | None,
    workspace: Path,
    as_json: bool,
) -> int:
    """Write a stand-alone script for a finding or a failing test, and run it.

    Exit with 0 when the script shows the failure, with 1 when it does not.
    """
    check_outputs(as_json, output)
    config = with_trust(load_config(), "pytorch", trusted, root)
    script, text, tried = reproduced(workspace, config, identity, None if output == STDOUT else output, run=not no_run)
    if output == STDOUT:
        print_text(text)
    _say(script, tried, as_json, err=output == STDOUT)
    return Exit.CLEAN if tried is None or tried.reproduced else _FAILED_TO_REPRODUCE


def reproduced(
    workspace: Path, config: Config, identity: str, output: Path | None = None, *, run: bool = True
) -> tuple[Path, str, Attempt | None]:
    """Writes the script of a finding or a failing test to *output*, or into the workspace, runs it, and keeps the outcome for reports.

    Returns its path, its text, and the outcome; None for one that did not run.
    """
    with open_workspace(workspace, write=False) as space:
        name, cases = cases_of(space, identity)
        if output is None:
            script = own_folder(space.folder / "reproducers") / f"{name}.py"
        else:
            check_output(script := output)
        text, tried = _tried(space, config, script, cases, run=run)
        place = str(script.relative_to(space.folder)) if output is None else str(script.resolve())
    if tried is not None:
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
        _keep(workspace, Reproduction(name, place, tried.reproduced, cases[0].result.test, digest), tried.message)
    return script, text, tried


def _tried(space: Workspace, config: Config, script: Path, cases: Sequence[ScriptCase], *, run: bool) -> tuple[str, Attempt | None]:
    """Writes the script of the first of *cases* that shows the failure, else that of the first; gives its text and its outcome."""
    tries: list[tuple[str, Attempt | None]] = []
    for case in cases:
        with ModelSources(space, config) as sources:
            text = render(sources, case, _versions(space, case))
        _write(script, text)
        tried = attempt(script, config, case.result, space.folder / "scratch") if run else None
        if tried is None or tried.reproduced:
            return text, tried
        tries.append((text, tried))
    _write(script, tries[0][0])
    return tries[0]


def _write(script: Path, text: str) -> None:
    with replacing(script) as file:
        file.write(text.encode("utf-8"))


def cases_of(space: Workspace, identity: str) -> tuple[str, list[ScriptCase]]:
    """A name, and the cases that scripts can show for the finding or failing test *identity*, its reduced instance first.

    Raises:
        UserError: nothing is called *identity*, or it did not fail.
    """
    target = resolve(space, identity)
    if target.finding is not None:
        finding = finding_of(space, target.finding)
        note = renamed(finding, target.finding)
        if note is not None:
            say(note)
        smaller = reduced(finding)
        return finding.id, [*([smaller] if smaller else []), original(space, finding.representative)]
    if target.test is None:
        raise UserError(f"{identity!r} is neither a finding nor a failing test; `opera report` lists the findings")
    result = result_of(space, target.test)
    if not (result.verdict.is_failure or result.verdict is Verdict.FLAKY):
        raise UserError(f"test {result.test[:12]} did not fail: {result.verdict.value}; `opera report` lists the findings")
    among = finding_with(space, result.test)
    return result.test[:16] if among is None else among.id, [original(space, result)]


def _versions(space: Workspace, case: ScriptCase) -> Mapping[str, Any]:
    campaigns = campaigns_of(space, case.result.test)
    return campaigns[-1].versions if campaigns else _UNKNOWN


def _keep(workspace: Path, reproduction: Reproduction, message: str) -> None:
    """Stores the outcome for reports, unless a running campaign holds the workspace."""
    try:
        with open_workspace(workspace, write=True) as space:
            Campaigns(space).keep_reproduction(reproduction, message)
    except EnvironmentBroken as error:
        say(f"reports will not show the outcome: {error}")


def _say(script: Path, tried: Attempt | None, as_json: bool, *, err: bool) -> None:
    if as_json:
        document: dict[str, object] = {"schema": SCHEMA, "script": str(script), "reproduced": None if tried is None else tried.reproduced}
        if tried is not None:
            document |= {"message": tried.message, "output": tried.output}
        print_json(document)
        return
    echo(f"script: {script}", err=err)
    if tried is not None:
        echo(f"{'reproduced' if tried.reproduced else 'NOT reproduced'}: {tried.message}", err=err)
        if not tried.reproduced:
            complain(tried.output[-1500:])
