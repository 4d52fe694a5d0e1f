"""`opera reproduce ID`: writes a stand-alone script for a finding, runs it, and says whether it reproduced."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from opera.config import load_config
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.options import common, print_json, say
from opera.oracles.verdict import Verdict
from opera.report.reproducer import Attempt, attempt, render
from opera.store import Campaigns, Corpus, StoredResult, Workspace
from opera.store.database import open_workspace
from opera.triage.findings import group

SCHEMA = "reproduce/1"
_FAILED_TO_REPRODUCE = 1
_UNKNOWN: Mapping[str, Any] = {}


@click.command("reproduce")
@click.argument("identity", metavar="ID")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Where to write the script.")
@click.option("--no-run", is_flag=True, help="Only write it.")
@common
def command(identity: str, output: Path | None, no_run: bool, workspace: Path, seed: int, as_json: bool) -> int:
    """Writes a stand-alone script for a finding or a failing test, and runs it.

    Exits with 0 when the script shows the failure, with 1 when it does not.
    """
    config = load_config()
    with open_workspace(workspace, write=False) as space:
        finding, result = _find(space, identity)
        versions = next((each.versions for each in Campaigns(space).all() if _belongs(space, each.id, result)), _UNKNOWN)
        script = output or space.folder / "reproducers" / f"{finding}.py"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(render(space, config, result, versions), encoding="utf-8")
        tried = None if no_run else attempt(script, config.python("compiler", result.compiler), result)
        place = str(script.relative_to(space.folder)) if script.is_relative_to(space.folder) else str(script.resolve())
    if tried is not None:
        _keep(workspace, finding, place, tried)
    _say(script, tried, as_json)
    return Exit.CLEAN if tried is None or tried.reproduced else _FAILED_TO_REPRODUCE


def _find(space: Workspace, identity: str) -> tuple[str, StoredResult]:
    """The finding or failing test whose identity begins with *identity*."""
    corpus, campaigns = Corpus(space), Campaigns(space)
    failures = [each for each in campaigns.results(failures=True) if each.fingerprint and each.fingerprint.startswith(identity)]
    names = {each.fingerprint for each in failures}
    if len(names) == 1:
        found = group(failures, lambda key: corpus.get(key).api, corpus.sizes)[0]
        return found.id, found.representative
    tests = [each for each in campaigns.result(identity) if each.verdict.is_failure or each.verdict is Verdict.FLAKY]
    if len(tests) == 1:
        return tests[0].fingerprint or tests[0].test[:16], tests[0]
    if names or tests:
        raise UserError(f"{identity!r} is the beginning of {len(names) + len(tests)} identities; write more of it")
    raise UserError(f"no finding and no failing test begins with {identity!r}; `opera report` lists the findings")


def _keep(workspace: Path, finding: str, place: str, tried: Attempt) -> None:
    """Keeps the outcome for reports, unless a campaign holds the workspace just now: reading must work beside it."""
    try:
        with open_workspace(workspace, write=True) as space:
            Campaigns(space).keep_reproduction(finding, place, tried.message, reproduced=tried.reproduced)
    except EnvironmentBroken as error:
        say(f"the outcome is not kept for reports: {error}")


def _belongs(space: Workspace, campaign: str, result: StoredResult) -> bool:
    query = "SELECT 1 FROM campaign_tests WHERE campaign = ? AND test = ?"
    return space.database.execute(query, (campaign, result.test)).fetchone() is not None


def _say(script: Path, tried: Attempt | None, as_json: bool) -> None:
    if as_json:
        document: dict[str, object] = {"schema": SCHEMA, "script": str(script), "reproduced": None if tried is None else tried.reproduced}
        if tried is not None:
            document |= {"message": tried.message, "output": tried.output}
        print_json(document)
        return
    click.echo(f"script: {script}")
    if tried is not None:
        click.echo(f"{'reproduced' if tried.reproduced else 'NOT reproduced'}: {tried.message}")
        if not tried.reproduced:
            click.echo(tried.output[-1500:], err=True)
