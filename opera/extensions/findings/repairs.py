"""`opera repairs`: which small repair of a model mends a finding, and which findings one repair mends together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import COMPILER
from opera.cli.options import JOBS, common
from opera.config import Config, load_config
from opera.console import echo, one_line, plural, print_json, print_table, say
from opera.corpus.selection import selector
from opera.errors import EnvironmentBroken, Exit, NothingSelected, UserError
from opera.extensions.findings.mending.trying import Family, Tried, proposed, tried
from opera.extensions.findings.recorded import in_order, tables
from opera.report.reproducer import original, reduced, render
from opera.report.scripts import ModelSources
from opera.store import Workspace
from opera.store.database import open_workspace
from opera.triage.findings import findings_in
from opera.untrusted import JsonObject
from opera.workers.cores import usable_cores
from opera.workers.supervision import working_folder

SCHEMA = "repairs/1"
Trial = Callable[[], Tried]


@click.command("repairs", cls=HeadedCommand)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only findings of this compiler.")
@click.option("-k", "keyword", metavar="EXPR", help="Select only APIs whose name matches, e.g. -k 'conv and not transpose'.")
@click.option("-j", "--jobs", type=JOBS, metavar="N", default=usable_cores, show_default="cores", help="Number of parallel scripts.")
@common
def command(folder: Path | None, compiler: str | None, keyword: str | None, jobs: int, workspace: Path, as_json: bool) -> int:
    """Try small repairs of the model on findings, and propose which of them one change mends.

    A repair rewrites each call of the model as an importer could do it, e.g. inputs are promoted to one dtype, or defaults are
    written. The script of a finding runs with each. FOLDER has recorded findings, as data/findings; by default those of the workspace
    are tried. Repairs are for PyTorch's exported programs.
    """
    config, wanted = load_config(), selector(keyword)
    with ExitStack() as stack:
        if folder is not None:
            trials = _recorded(folder, compiler, wanted, config)
        else:
            space = stack.enter_context(open_workspace(workspace, write=False))
            scripts = stack.enter_context(working_folder("reproduce", space.folder / "scratch"))
            trials = _found(space, scripts, compiler, wanted, config)
        if not trials:
            raise NothingSelected(f"no finding of {folder or workspace} is selected")
        found: list[Tried] = []
        try:
            found.extend(in_order(trials, jobs, "tried {} of {} findings"))
        finally:  # an interruption leaves what is known
            families = proposed(found)
            if as_json:
                print_json(document(found, families))
            elif found:
                _print(found, families)
    return Exit.CLEAN


def _recorded(folder: Path, compiler: str | None, wanted: Callable[[str], bool], config: Config) -> list[Trial]:
    def trial(subject: str, name: str, owner: str) -> Trial:
        return lambda: tried(subject, name, folder / subject / f"{name}.py", owner, config)

    return [
        trial(table.subject, row.name, table.compiler)
        for table in tables(folder)
        if compiler in (None, table.compiler)
        for row in table.finding
        if any(map(wanted, row.operators))
    ]


def _found(space: Workspace, scripts: Path, compiler: str | None, wanted: Callable[[str], bool], config: Config) -> list[Trial]:
    """A trial of each finding of *space*; its script is written into *scripts*."""

    def trial(subject: str, name: str, owner: str, problem: str) -> Trial:
        return lambda: Tried(subject, name, problem=problem) if problem else tried(subject, name, scripts / f"{name}.py", owner, config)

    trials: list[Trial] = []
    for finding in findings_in(space):
        if compiler not in (None, finding.compiler) or not any(map(wanted, finding.operators)):
            continue
        case, problem = reduced(finding) or original(space, finding.representative), ""
        try:
            with ModelSources(space, config) as sources:
                text = render(sources, case, {})
            (scripts / f"{finding.id}.py").write_text(text, encoding="utf-8")
        except (EnvironmentBroken, UserError) as error:
            problem = one_line(str(error))
        result = finding.representative
        trials.append(trial(f"{result.at_fault}-{result.frontend}", finding.id, result.compiler, problem))
    return trials


def document(found: Sequence[Tried], families: Sequence[Family]) -> JsonObject:
    """What the command says, as JSON."""
    rows = [
        {
            "subject": each.subject,
            "name": each.name,
            "mended": list(each.mended),
            "failing": list(each.failing),
            "ends": each.ends,
            "problem": each.problem,
        }
        for each in found
    ]
    groups = [{"subject": each.subject, "repair": each.repair, "ends": each.ends, "findings": each.findings} for each in families]
    return {"schema": SCHEMA, "findings": rows, "families": groups}


def _print(found: Sequence[Tried], families: Sequence[Family]) -> None:
    if families:
        rows = [
            [each.subject, each.repair + (f" ({each.ends})" if each.ends else ""), f"{len(each.findings):,}", ", ".join(each.findings)]
            for each in families
        ]
        print_table(["subject", "repair", "findings", "names"], rows)
    for each in found:
        if each.problem:
            echo(f"{each.subject}/{each.name}: not tried: {one_line(each.problem, 160)}")
    mended = sum(bool(each.mended) for each in found)
    skipped = sum(bool(each.problem) for each in found)
    mending = plural(len({each.repair for each in families}), "repair")
    say(
        f"{plural(len(found), 'finding')}: {mended:,} mended by {mending}, {len(found) - mended - skipped:,} by none, {skipped:,} not tried"
    )
