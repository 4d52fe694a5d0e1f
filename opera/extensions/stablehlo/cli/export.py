"""`opera export stablehlo`: writes instances and findings as self-checking StableHLO programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from opera.atomic import check_output, output
from opera.cli.help import HeadedCommand
from opera.cli.names import FINDING
from opera.cli.options import common
from opera.cli.selecting import selecting
from opera.config import load_config
from opera.console import plural, print_json, say
from opera.errors import Exit, NothingSelected, UserError
from opera.extensions.stablehlo.self_checking import StableHloWorker, instance_candidate, programs
from opera.extensions.suites.cases import Candidate, Request, candidates
from opera.store import Workspace
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.workers.process import Limits
from opera.workers.supervision import working_folder

SCHEMA = "export-stablehlo/1"


@click.command("stablehlo", cls=HeadedCommand)
@click.argument("ids", metavar="[ID]...", type=FINDING, nargs=-1)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@selecting
@common
def command(
    ids: tuple[str, ...],
    folder: Path,
    campaign: str | None,
    compiler: str | None,
    frontend: str | None,
    keyword: str | None,
    passing: int,
    no_failures: bool,
    workspace: Path,
    seed: int,
    as_json: bool,
) -> int:
    """Write self-checking StableHLO programs.

    ID names a finding, a failing test, or an instance of the corpus; without one, the findings of the selection are written. Each file in
    DIR has the inputs as constants, the operation, and a check of its result, which `opera stablehlo test DIR` runs. The official tools
    run it too.
    """
    config = load_config()
    with open_workspace(workspace, write=True) as space:
        found = _selected(space, ids, Scope(campaign, compiler, frontend), keyword, passing, seed, with_findings=not no_failures)
        with working_folder("export") as scratch, StableHloWorker(config, scratch, Limits()) as worker:
            made = programs(space, config, found, worker)
    if not made.files:
        reasons = "; ".join(f"{count:,} left out: {reason}" for reason, count in made.left_out.items())
        raise NothingSelected(f"no program was written: {reasons}")
    _write(folder, made.files)
    if as_json:
        print_json({"schema": SCHEMA, "folder": str(folder), "files": sorted(made.files), "left_out": dict(made.left_out)})
    else:
        for reason, count in made.left_out.items():
            say(f"{plural(count, 'instance')} left out: {reason}")
        say(f"{plural(len(made.files), 'program')} written to {folder}; run them: opera stablehlo test {folder}")
    return Exit.CLEAN


def _selected(
    space: Workspace, ids: tuple[str, ...], scope: Scope, keyword: str | None, passing: int, seed: int, *, with_findings: bool
) -> list[Candidate]:
    instances = {name: instance_candidate(space, name) for name in ids}
    found = [each for each in instances.values() if each is not None]
    others = tuple(name for name, each in instances.items() if each is None)
    if others or not ids:
        request = Request(others, scope, keyword, passing, with_findings)
        found += candidates(space, request, seed).tests
    return found


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        for name in files:
            check_output(folder / name)
        for name, text in files.items():
            with output(folder / name) as file:
                file.write(text.encode())
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}; name another folder") from error
