"""`opera issue ID`: writes the text of an issue about a finding, in the form of its project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opera.cli.help import HeadedCommand
from opera.cli.names import FINDING
from opera.cli.options import OutputFile, common
from opera.config import Config, load_config
from opera.console import STDOUT, check_outputs, one_line, print_json, say, write
from opera.difftest.judge import headline
from opera.errors import EnvironmentBroken, Exit, UserError
from opera.extensions.findings.baseline import NO_BASELINE, Baseline, baseline
from opera.extensions.findings.recorded import State
from opera.extensions.findings.recorded_issue import recorded, recorded_text, tried
from opera.extensions.findings.text import IssueFacts, asks_for_baseline, call_of, form_of, provenance_of, text_of
from opera.oracles.verdict import Verdict
from opera.report.details import campaigns_of, finding_of, finding_with, named, renamed, resolve, result_of, siblings
from opera.report.reproducer import Attempt, ScriptCase, attempt, original, reduced, render
from opera.report.scripts import ModelSources
from opera.report.words import inline, layer_of, sentences, when
from opera.store import StoredResult, Workspace
from opera.store.database import open_workspace
from opera.triage.findings import findings_in
from opera.workers.supervision import working_folder

SCHEMA = "issue/1"
_NOT_READY = 1
_PACKED = "b85decode("
"""What only a script with values has that are too many to read."""
_NO_VERSIONS: Mapping[str, Any] = {}


@click.command("issue", cls=HeadedCommand)
@click.argument("identity", type=FINDING, metavar="ID")
@click.option("-o", "--output", type=OutputFile(), help="Write the text to this file; by default to standard output.")
@click.option("--no-run", is_flag=True, help="Write the text without running its script.")
@common
def command(identity: str, output: Path | None, no_run: bool, workspace: Path, as_json: bool) -> int:
    """Write the text of an issue about a finding or a failing test, in the form of its project.

    ID is that of a finding or test of the workspace, or SUBJECT/NAME or the script of a recorded finding, e.g. tvm-onnx/if-77b3c29e.
    OPERA runs the script of the text first, and sends nothing. Exit with 0 when the script shows the failure or --no-run is given,
    with 1 when it does not; the text then says so at its top.
    """
    check_outputs(as_json, output)
    config = load_config()
    found = recorded(identity)
    if found is not None:
        outcome = None if no_run else tried(found, config)
        reproduced = None if outcome is None else outcome.state is State.FAILS
        owner, verdict, script = found.table.compiler, found.row.verdict, found.script.read_text(encoding="utf-8")
        base = _baseline(config, owner, owner, verdict, script) if reproduced else NO_BASELINE
        name, form, text, is_ready = found.name, form_of(owner), recorded_text(found, outcome, base), True
    else:
        with open_workspace(workspace, write=False) as space:
            facts = _facts(space, config, identity, run=not no_run)
            if facts.tried is not None and facts.tried.reproduced:
                result = facts.result
                facts = replace(facts, baseline=_baseline(config, facts.owner, result.compiler, result.verdict, facts.script))
        reproduced = None if facts.tried is None else facts.tried.reproduced
        name, form, text, is_ready = facts.finding, facts.form, text_of(facts), bool(facts.script)
    if output is not None or not as_json:
        write(output or STDOUT, text)
    if as_json:
        file = None if output is None else str(output)
        print_json({"schema": SCHEMA, "finding": name, "form": form, "reproduced": reproduced, "file": file, "text": text})
    elif output not in (None, STDOUT):
        say(f"issue: {output}")
    return Exit.CLEAN if reproduced or (no_run and is_ready) else _NOT_READY


def _baseline(config: Config, owner: str, compiler: str, verdict: Verdict, script: str) -> Baseline:
    """The baseline of *script*, if the project *owner* asks for it and a result is wrong."""
    return baseline(script, compiler, config) if verdict is Verdict.INCONSISTENT and asks_for_baseline(owner) else NO_BASELINE


def _facts(space: Workspace, config: Config, identity: str, *, run: bool) -> IssueFacts:
    """The facts of the text: those of the reduced instance if its script reproduces, else those of the smallest test."""
    target = resolve(space, identity)
    if target.finding is not None:
        finding = finding_of(space, target.finding)
        note = renamed(finding, target.finding)
        if note is not None:
            say(note)
        smaller = reduced(finding)
        cases = [*([smaller] if smaller else []), original(space, finding.representative)]
        facts = _tried(space, config, finding.id, cases, len(finding.tests), run=run)
        facts = replace(facts, owner=finding.compiler, opinions=finding.opinions)
        if smaller is None and _PACKED in facts.script:
            raise UserError(f"the finding {finding.id} is not reduced, and its script holds packed data; run `opera triage` first")
        if facts.case is not smaller:
            return facts
        every = findings_in(space)
        alike, layer = tuple(named(each) for each in siblings(finding, every)), layer_of(finding, every)
        where = () if layer is None else (f"Layer: {inline(str(layer))}.",)
        return replace(facts, when=when(finding), condition=(*sentences(finding), *where), siblings=alike)
    result = None if target.test is None else result_of(space, target.test)
    if result is None or not (result.verdict.is_failure or result.verdict is Verdict.FLAKY):
        raise UserError(f"{identity!r} is neither a finding nor a failing test; `opera report` lists the findings")
    among = finding_with(space, result.test)
    return _tried(space, config, result.test[:16] if among is None else among.id, [original(space, result)], 1, run=run)


def _tried(space: Workspace, config: Config, name: str, cases: list[ScriptCase], tests: int, *, run: bool) -> IssueFacts:
    """The facts of the first of *cases* whose script reproduces, else of the last case."""
    facts = [_about(space, case, name, tests) for case in cases]
    for index, each in enumerate(facts):
        try:
            versions = each.campaign.versions if each.campaign else _NO_VERSIONS
            with ModelSources(space, config) as sources:
                script = render(sources, each.case, versions)
        except (EnvironmentBroken, UserError) as error:
            facts[index] = replace(each, why_none=one_line(str(error).partition(";")[0]))
            continue
        facts[index] = replace(each, script=script, tried=_attempt(space.folder / "scratch", config, script, each.result) if run else None)
        tried = facts[index].tried
        if tried is None or tried.reproduced:
            return facts[index]
    return facts[-1]


def _about(space: Workspace, case: ScriptCase, name: str, tests: int) -> IssueFacts:
    result = case.result
    campaigns = campaigns_of(space, result.test)
    summary = one_line(headline(result.verdict, result.detail, result.compiler))
    campaign = campaigns[-1] if campaigns else None
    return IssueFacts(
        finding=name,
        owner=result.at_fault,
        case=case,
        summary=summary,
        campaign=campaign,
        call=call_of(space, case),
        provenance=provenance_of(space, result),
        tests=tests,
        script="",
    )


def _attempt(scratch: Path, config: Config, script: str, result: StoredResult) -> Attempt:
    with working_folder("issue", scratch) as folder:
        file = folder / "reproducer.py"
        file.write_text(script, encoding="utf-8")
        return attempt(file, config, result, scratch)
