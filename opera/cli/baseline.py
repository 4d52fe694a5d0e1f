"""`opera baseline update|check`: a file of known failures, so that a job fails only for new failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from opera.cli.help import HeadedGroup
from opera.cli.names import CAMPAIGN, COMPILER, FRONTEND
from opera.cli.options import common
from opera.compilers.registry import plugins
from opera.console import STDOUT, echo, one_line, option, plural, print_json, print_table, wrapped
from opera.errors import Exit, NothingSelected, UserError
from opera.report.details import titles_in
from opera.report.words import without_signatures
from opera.store import StoredResult, Workspace
from opera.store.campaigns import KNOWN_DIGITS
from opera.store.database import open_workspace
from opera.store.queries import Scope
from opera.triage.baseline import Baseline, BaselineCheck
from opera.triage.known_failures import KnownFailure, failures_of, results_in
from opera.untrusted import JsonObject

SCHEMA = "baseline/1"
_WORDS = {"new": "new", "undecided": "undecided", "changed": "changed", "gone": "gone", "untested": "not tested"}


def _named(_context: click.Context, _parameter: click.Parameter, file: Path) -> Path:
    if file == STDOUT:
        raise UserError("standard output cannot hold a baseline; name a file")
    return file


_file = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), callback=_named)
_campaign = click.option(
    "--campaign", type=CAMPAIGN, metavar="ID", help="Select only results of this campaign; any unambiguous prefix of its id works."
)
_compiler = click.option("--compiler", type=COMPILER, metavar="NAME", help="Select only results of this compiler.")
_frontend = click.option("--frontend", type=FRONTEND, metavar="NAME", help="Select only results of this model format.")


@click.group("baseline", cls=HeadedGroup)
def command() -> None:
    """Keep a file of known failures, and compare results with it."""


@command.command("update")
@_file
@_campaign
@_compiler
@_frontend
@common
def update(file: Path, campaign: str | None, compiler: str | None, frontend: str | None, workspace: Path, as_json: bool) -> int:
    """Add new failures to FILE, and remove those that are gone.

    Order, comments and failures that were not tested stay as they are.
    """
    baseline = Baseline(file)
    check, titles = _check(baseline, Scope(campaign, compiler, frontend), workspace)
    baseline.update(check)
    baseline.write()
    _say(check, titles, file, as_json, verb="update")
    return Exit.CLEAN


@command.command("check")
@_file
@_campaign
@_compiler
@_frontend
@click.option("--allow-gone", is_flag=True, help="Exit with 0 even if a known failure is gone.")
@common
def check(
    file: Path,
    campaign: str | None,
    compiler: str | None,
    frontend: str | None,
    allow_gone: bool,
    workspace: Path,
    as_json: bool,
) -> int:
    """Compare the failures with FILE.

    A failure is in FILE if its instance failed in the same way there, or has the condition of a failure there. Exit with 1 when a
    failure is not in FILE, when a failure with a known message may have another cause (undecided), or when a failure in FILE is gone.
    """
    found, titles = _check(Baseline.existing(file), Scope(campaign, compiler, frontend), workspace)
    _say(found, titles, file, as_json, verb="check")
    if found.matching.undecided and not as_json:
        echo(f"undecided failures have the message of a known one, on other calls; {_advice(workspace)}")
    return Exit.CLEAN if found.clean or (allow_gone and not found.matching.unknown) else Exit.NEW_FINDINGS


def _advice(workspace: Path) -> str:
    return f"`opera triage{option(workspace)}` reduces them, and this command then tells whether their causes are known"


def _check(baseline: Baseline, scope: Scope, workspace: Path) -> tuple[BaselineCheck, Mapping[str, str]]:
    """The comparison, and the titles of the failing tests."""
    with open_workspace(workspace, write=False) as space:
        results = results_in(space, scope)
        if not results:
            raise NothingSelected("no result is selected; run a campaign first")
        return _check_results(baseline, results, space), titles_in(space)


def _check_results(baseline: Baseline, results: list[StoredResult], space: Workspace) -> BaselineCheck:
    if not any(each.verdict.is_judgement for each in results):
        raise NothingSelected(f"none of {plural(len(results), 'test')} passed or failed; `opera report` has the reasons")
    subjects = {f"{result.at_fault}/{result.frontend}" for result in results}
    subjects |= {result.subject for result in results}
    frontends = {result.frontend for result in results}
    exporters = {each.subject for each in baseline.failures if each.compiler not in plugins() and each.frontend in frontends}
    return baseline.check(failures_of(results, space), {result.instance[:KNOWN_DIGITS] for result in results}, subjects | exporters)


def _say(check: BaselineCheck, titles: Mapping[str, str], file: Path, as_json: bool, *, verb: str) -> None:
    changed = [new for _, new in check.matching.changed]
    groups: dict[str, Sequence[KnownFailure]] = {
        "new": check.matching.new,
        "undecided": check.matching.undecided,
        "changed": changed,
        "gone": check.gone,
        "untested": check.untested,
    }
    if as_json:
        document: JsonObject = {"schema": SCHEMA, "file": str(file), "clean": check.clean, "known": len(check.matching.same)}
        print_json({**document, **{name: [entry_of(each) for each in group] for name, group in groups.items()}})
        return
    rows = [[name, *row_of(each, titles)] for name, group in groups.items() if name != "untested" for each in group]
    if rows:
        print_table(["what", *COLUMNS], rows)
        echo()
    wrapped(f"{file}: {len(check.matching.same)} known, {', '.join(f'{len(group)} {_WORDS[name]}' for name, group in groups.items())}")
    if verb == "update":
        echo(f"wrote {plural(len(Baseline(file).failures), 'failure')}")


def entry_of(failure: KnownFailure) -> JsonObject:
    """A failure in a JSON document."""
    return {
        "fingerprint": failure.fingerprint,
        "compiler": failure.compiler,
        "frontend": failure.frontend,
        "verdict": failure.verdict,
        "stage": failure.stage or None,
        "converter": failure.converter,
        "kind": failure.kind,
        "instances": sorted(failure.instances),
        "summary": one_line(failure.summary),
        "condition": None if failure.condition is None else failure.condition.text(),
    }


COLUMNS = ["fingerprint", "subject", "failure", "seen"]


def row_of(failure: KnownFailure, titles: Mapping[str, str]) -> list[str]:
    """A failure in a table, with the title of its finding; of a failure that only a file names, with what the file says."""
    when = "" if failure.condition is None else f" when {failure.condition.text()}"
    title = next((titles[case.test] for case in failure.cases if case.test in titles), f"{failure.converter}: {failure.verdict}{when}")
    return [failure.fingerprint[:8], failure.subject, one_line(title), one_line(without_signatures(failure.summary))]
