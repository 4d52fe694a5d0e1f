"""`opera localize`: which operators of a model a compiler gets wrong, with a finding, a script and a test of each."""

from __future__ import annotations

import os
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, common
from opera.cli.reproduce import reproduced
from opera.config import load_config
from opera.console import doing, echo, one_line, option, plural, print_json, say
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.extensions.models.api import check
from opera.extensions.models.cli.check import document_of, model_options, print_check
from opera.extensions.models.localize import Tests, findings_of, tests_of
from opera.report.details import finding_of
from opera.report.terminal import print_finding
from opera.store.database import open_workspace
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.supervision import working_folder

SCHEMA = "localize/1"


@click.command("localize", cls=HeadedCommand)
@click.argument("model", metavar="MODEL")
@click.option("--compiler", type=COMPILER, metavar="NAME", required=True, help="Compiler that gets the model wrong.")
@model_options
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel reductions.")
@common
def command(
    model: str, compiler: str, inputs: Path | None, sizes: tuple[tuple[str, int], ...], timeout: float, memory: int, jobs: int,
    workspace: Path, seed: int, as_json: bool,
) -> int:  # fmt: skip
    """Make scripts and tests of what a compiler gets wrong in a model.

    MODEL is what `opera check` takes. The operators that are wrong or crash, alone or only together, become instances with their true
    inputs. OPERA reduces each, writes a script that shows it, and a test for pytest that is expected to fail. The workspace has instances
    and findings. Exit with 1 if anything is wrong, crashes or is declined.
    """
    found: tuple[str, ...] = ()
    open_workspace(workspace, write=True).close()  # a workspace that takes nothing is refused at once
    with working_folder("localize", workspace / "scratch") as scratch:
        checked = check(
            model, [compiler], inputs=inputs, sizes=dict(sizes), seed=seed, timeout=timeout, memory=memory, scratch=scratch, tell=doing
        )
        if not as_json:
            print_check(checked)
        if checked.failing:
            limit = min(timeout, 60.0)
            made = findings_of(checked, workspace, scratch, jobs=jobs, timeout=limit, memory=memory, tell=doing)
            found = tuple(each.id for each in made)
    scripts = {each: _script(workspace, each) for each in found}
    tests = tests_of(found, f"{Path(model).stem}-{compiler}", workspace, load_config(), seed) if found else None
    if as_json:
        print_json(_document(document_of(checked), scripts, tests))
    else:
        _print(workspace, scripts, tests, failing=bool(checked.failing))
    return Exit.CLEAN if checked.is_clean else Exit.NEW_FINDINGS


def _script(workspace: Path, finding: str) -> tuple[str, bool | None]:
    """The script of a finding, and whether it shows it; None for one that cannot be run here."""
    doing(f"writing the script of {finding[:8]}")
    try:
        script, _, tried = reproduced(workspace, load_config(), finding)
    except (EnvironmentBroken, UserError) as error:
        say(f"{finding[:8]} has no script: {error}")
        return "", None
    return str(script), None if tried is None else tried.reproduced


def _print(workspace: Path, scripts: dict[str, tuple[str, bool | None]], tests: Tests | None, *, failing: bool) -> None:
    if not scripts:
        if failing:
            echo("no finding: alone, each is within the tolerance of its dtype")
        return
    with open_workspace(workspace, write=False) as space:
        found = [finding_of(space, each) for each in scripts]
    echo(f"{plural(len(found), 'finding')}:")
    for (script, shows), each in zip(scripts.values(), found, strict=True):
        print_finding(each)
        if script:
            echo(f"          {os.path.relpath(script)} {'shows it' if shows else 'does NOT show it'}")
    if tests is not None and tests.exported is not None:
        echo(f"{plural(tests.exported.failing, 'test')} in {os.path.relpath(tests.folder)}, marked xfail until the compiler is mended")
    elif tests is not None:
        echo(f"no test was written: {one_line(tests.problem, 300)}")
    echo(f"all facts of a finding: opera show ID{option(str(workspace))}")


def _document(checked: JsonObject, scripts: dict[str, tuple[str, bool | None]], tests: Tests | None) -> JsonObject:
    return {
        **checked,
        "schema": SCHEMA,
        "findings": [{"finding": each, "script": script, "reproduced": shows} for each, (script, shows) in scripts.items()],
        "tests": None if tests is None or tests.exported is None else {"folder": str(tests.folder), "count": tests.exported.failing},
    }
