"""The text of an issue about a finding, in the form of the project that it goes to."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from opera.compilers.adapter import REJECTS
from opera.compilers.exporters import issue_form
from opera.compilers.registry import known_adapter
from opera.console import one_line
from opera.corpus.stored_call import full_text, stored_call
from opera.errors import UserError
from opera.extensions.findings.baseline import NO_BASELINE, Baseline
from opera.instance import decode_instance
from opera.instance.libraries import facts_of
from opera.oracles.fingerprint import ELEMENTS
from opera.oracles.verdict import ACCEPTED, Stage, Verdict
from opera.report import details
from opera.report.details import NamedText
from opera.report.reproducer import Attempt, ScriptCase
from opera.report.words import code, fenced, inline, page_of, symptom_words
from opera.store import Campaign, Corpus, StoredResult, Workspace
from opera.store.corpus import OTHER_TESTS
from opera.triage.arbitration import COMPILER, LIBRARY, Opinion

_TEMPLATES = Path(__file__).parent / "templates"
_TESTS = 5
_LOG = 60
"""Lines of a log that an issue quotes."""


@dataclass(frozen=True)
class IssueFacts:
    """The facts for an issue.

    Attributes:
        finding: Identity of the finding.
        owner: The system that the issue is about: the compiler, or the exporter at fault.
        case: What the script shows.
        summary: One line that says what goes wrong.
        campaign: One that the failing test belongs to; None where it is gone.
        call: The operator's call, readable.
        provenance: Library tests that the instance came from, the first of them.
        tests: How many tests fail in this way.
        script: The reproducer; empty without a reproducer.
        why_none: The reason for a missing script.
        tried: The outcome of running it; None if it was not run.
        opinions: What other compilers make of the reduced instance.
        when: The condition, for the title; empty where it is not known.
        condition: The condition and calls that pass without a part of it, as sentences in Markdown.
        siblings: Findings of other operators that fail alike under the same condition, a line for each.
        baseline: The result in double precision, for projects that ask for it.
    """

    finding: str
    owner: str
    case: ScriptCase
    summary: str
    campaign: Campaign | None
    call: str
    provenance: tuple[str, ...]
    tests: int
    script: str
    why_none: str = ""
    tried: Attempt | None = None
    opinions: tuple[Opinion, ...] = ()
    when: str = ""
    condition: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    baseline: Baseline = NO_BASELINE

    @property
    def result(self) -> StoredResult:
        """The result of the failing test."""
        return self.case.result

    @property
    def form(self) -> str:
        """Name of the project's form; the owner's name if the adapter has the text."""
        return form_of(self.owner)


def form_of(owner: str) -> str:
    """Name of the form of a project; the owner's name if the adapter has the text."""
    declared = declared_form(owner)
    return owner if _is_text(declared) else declared


def declared_form(owner: str) -> str:
    """The form of a project as it is declared: a name, or the text."""
    adapter = known_adapter(owner)
    return issue_form(owner) if adapter is None else adapter.issue_form


def asks_for_baseline(owner: str) -> bool:
    """Whether the form of a project has a place for a result in double precision."""
    form = declared_form(owner)
    path = _TEMPLATES / f"{form}.md.j2"
    return "baseline" in (form if _is_text(form) else path.read_text(encoding="utf-8") if path.is_file() else "")


def _is_text(form: str) -> bool:
    return "\n" in form


def provenance_of(workspace: Workspace, result: StoredResult) -> tuple[str, ...]:
    """The library's tests, the first of them, that called the instance of *result*, each with its source."""
    found = [each for each in Corpus(workspace).provenance(result.instance) if each.test != OTHER_TESTS]
    return tuple(one_line(f"{each.test} ({each.source})", 160) for each in found[:_TESTS])


def call_of(workspace: Workspace, case: ScriptCase) -> str:
    """The call that the script makes, as text."""
    if case.note:
        try:
            return full_text(decode_instance(dict(case.document)))
        except ValueError:
            pass
    return stored_call(Corpus(workspace), workspace.blobs, case.result.instance).text


def text_of(facts: IssueFacts) -> str:
    """The issue as Markdown; raises as `filled`."""
    result = facts.result
    versions = _versions(facts.campaign)
    values = {
        "title": f"[{inline(_subject(facts))}] {inline(_operator(facts))}: {_short(facts)} {inline(facts.when.strip())}".strip(),
        "warning": _warning(facts),
        "finding": facts.finding,
        "owner": inline(facts.owner),
        "framework": inline(facts_of(result.frontend).title),
        "converter": code(result.converter or ""),
        "stage": result.stage.value if result.stage else "",
        "operator": code(_operator(facts)),
        "call": _call(facts),
        "expected": _expected(facts),
        "actual": _actual(result),
        "baseline": facts.baseline.text,
        "summary": inline(facts.summary),
        "log": fenced(_log(result)),
        "script": fenced(facts.script.rstrip(), "python") if facts.script else "",
        "why_none": inline(facts.why_none),
        "versions": [NamedText(inline(row.name), inline(row.value)) for row in versions],
        "version": next((inline(row.value) for row in versions if row.name == facts.owner), "unknown"),
        "ruled_out": [*_ruled_out(facts), *_third_opinions(facts)],
        "provenance": [code(each) for each in facts.provenance],
        "siblings": [code(each) for each in facts.siblings],
        "tests": facts.tests,
        "is_crash": result.verdict is not Verdict.INCONSISTENT,
    }
    return filled(facts.owner, values)


def filled(owner: str, values: Mapping[str, object]) -> str:
    """The form of the project *owner* with *values*.

    Raises:
        UserError: the adapter has a form that does not exist or cannot be filled in.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    here = {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    form = declared_form(owner)
    try:
        template = environment.from_string(form) if _is_text(form) else environment.get_template(f"{form}.md.j2")
        text = template.render({**here, **values}).strip()
    except jinja2.TemplateError as error:
        raise UserError(f"the issue form of the adapter {owner} cannot be filled in ({error!r}); correct its `issue_form`") from error
    return re.sub(r"\n{3,}(?=[^\n]*\n)", "\n\n", text) + "\n"


def _call(facts: IssueFacts) -> str:
    """The call, its condition, and where the operator is specified."""
    document = facts.case.document
    page = page_of(str(document.get("library")), str(document.get("api")))
    parts = [fenced(facts.call), *(["\n".join(f"- {each}" for each in facts.condition)] if facts.condition else [])]
    return "\n\n".join([*parts, *([] if page is None else [f"Specification: <{page}>"])])


def _ruled_out(facts: IssueFacts) -> list[str]:
    """The causes that were ruled out, as sentences; a run backs each one."""
    result = facts.result
    found: list[str] = []
    if result.verdict.is_failure:
        found.append("Nondeterminism: the test failed again, in the same way, in a fresh process.")
    if result.verdict is Verdict.INCONSISTENT:
        found += _ruled_out_of_values(result)
        if result.exporter is None and _is_converted(facts):
            found.append(
                "The exporter: the library or ONNX's reference evaluator, if one of them can run the compiler's model, does not give the"
                " compiler's result."
            )
    level = result.detail.get("lowest_level")
    if isinstance(level, Mapping):
        known = cast("Mapping[str, Any]", level)
        if known.get("vanishes"):
            found.append(f"The conversion of the operator: at optimisation level {code(str(known['name']))} the failure vanishes.")
        else:
            found.append(f"Optimisation: at level {code(str(known['name']))} the test still fails ({inline(str(known['verdict']))}).")
    return found


def _third_opinions(facts: IssueFacts) -> list[str]:
    """The opinions of other compilers against the owner of the failure."""
    if facts.owner != facts.result.compiler:
        return [f"One compiler alone: {inline(str(each))}." for each in facts.opinions if each.side == COMPILER]
    return [f"The library: {inline(str(each))} as well." for each in facts.opinions if each.side == LIBRARY]


def _ruled_out_of_values(result: StoredResult) -> list[str]:
    kind = str(_difference(result).get("kind"))
    found: list[str] = []
    if kind in ("values", "nan", "inf"):
        found += [
            "Ill-conditioning: if the library can compute in double precision, inputs that are off by a rounding error do not give"
            " the compiler's result.",
            "Precision: the compiler ran with full precision, and no declared narrower dtype explains the difference.",
        ]
    return found


def _is_converted(facts: IssueFacts) -> bool:
    """Whether something turned the library's model into the model that the compiler loaded; an ONNX test is such a model itself."""
    result = facts.result
    adapter = known_adapter(result.compiler)
    routes = () if adapter is None else adapter.routes
    artefact = next((each.artefact for each in routes if (each.frontend, each.name) == (result.frontend, result.route)), None)
    return artefact not in (None, facts.case.document.get("library"))


def _difference(result: StoredResult) -> Mapping[str, Any]:
    found = result.detail.get("difference")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _subject(facts: IssueFacts) -> str:
    return facts_of(facts.result.frontend).title if facts.owner == facts.result.compiler else facts.owner


def _operator(facts: IssueFacts) -> str:
    api = str(facts.case.document.get("api", ""))
    return api.removeprefix("ai.onnx.") or facts.result.converter or "operator"


def _short(facts: IssueFacts) -> str:
    result = facts.result
    return inline(symptom_words(result.verdict, result.detail) if result.verdict is Verdict.INCONSISTENT else facts.summary, 100)


def _warning(facts: IssueFacts) -> str:
    if facts.result.verdict is Verdict.FLAKY:
        return "This failure did not happen again in a fresh process. Find the reason before you report it."
    if facts.why_none:
        return f"There is no stand-alone script: {inline(facts.why_none)}. Write a script before you report this."
    if facts.tried is None:
        return "The script below did not run yet. Run it before you report this."
    if not facts.tried.reproduced:
        return (
            f"The script below does NOT reproduce the failure here: {inline(facts.tried.message)}. Find the reason before you report this."
        )
    return facts.baseline.doubt


def _what(difference: Mapping[str, Any]) -> str:
    """The part that is wrong, if it is not the elements."""
    kind = str(difference.get("kind"))
    return "" if kind in ELEMENTS else f"{inline(kind, 40)} "


def _expected(facts: IssueFacts) -> str:
    result, difference = facts.result, _difference(facts.result)
    library = inline(facts_of(result.frontend).title)
    if difference.get("kind") == ACCEPTED:
        why = "because the model is ill-typed" if result.route == REJECTS else "as the library raises it"
        return f"{code(str(difference.get('expected')))}, {why}"
    if result.verdict is Verdict.INCONSISTENT:
        source = facts_of(str(facts.case.document.get("library"))).expected or f"{library} computes it"
        return f"{_what(difference)}{code(str(difference.get('expected')))}, as {source}"
    if result.route == REJECTS:
        return "The model is rejected with a typed error, because it is ill-typed."
    if result.stage is Stage.RUN:
        return f"The model runs: {library} accepts the operator with these arguments and gives a result."
    return f"The model compiles: {library} accepts the operator with these arguments and gives a result."


def _actual(result: StoredResult) -> str:
    difference = _difference(result)
    if result.verdict is Verdict.INCONSISTENT:
        share = difference.get("share")
        wide = f" ({share:.0%} of the elements differ)" if isinstance(share, float) else ""
        return f"{_what(difference)}{code(str(difference.get('actual')))}{wide}"
    stage = f" while it was in stage `{result.stage.value}`" if result.stage else ""
    words = {
        Verdict.CRASH: "An exception was raised",
        Verdict.ABORT: "The process was killed",
        Verdict.HANG: "The process did not end",
        Verdict.OOM: "The process passed its memory cap",
    }.get(result.verdict, "It fails")
    return f"{words}{stage}."


def _log(result: StoredResult) -> str:
    lines = [line[2:] for line in details.lines(details.evidence(result.detail))]
    return "\n".join(lines[-_LOG:])


def _versions(campaign: Campaign | None) -> list[NamedText]:
    sides = [] if campaign is None else [campaign.versions.get(side) for side in ("compiler", "library")]
    rows: dict[str, str] = {}
    for side in sides:
        if isinstance(side, Mapping):
            rows.update({one_line(name): one_line(str(value)) for name, value in cast("Mapping[str, Any]", side).items()})
    return [NamedText(name, value) for name, value in rows.items()]
