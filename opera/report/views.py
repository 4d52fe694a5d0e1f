"""The output of `opera show` for a finding, a test or an instance: lines for a person, and `show/1` for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

from opera.compilers.registry import has_script
from opera.console import one_line, option, plural
from opera.corpus.stored_call import CallText, stored_call
from opera.difftest.judge import headline
from opera.instance import Occurrence
from opera.models.forms import form_parts
from opera.oracles.verdict import Verdict
from opera.report.details import (
    Detailer,
    NamedText,
    campaigns_of,
    evidence,
    finding_of,
    finding_with,
    lines,
    renamed,
    result_of,
    version_rows,
)
from opera.report.overview import findings_among
from opera.report.terminal import finding_document, meaning_of
from opera.report.words import form_text
from opera.store import Corpus, StoredResult, Workspace, queries
from opera.store.corpus import OTHER_TESTS
from opera.triage.findings import Finding, reach_of
from opera.untrusted import Document

SCHEMA = "show/1"
_SHOWN = 20


class ShowView(Protocol):
    """Something that `opera show` can show."""

    def lines(self) -> list[str]:
        """Text for a person, line by line."""
        ...

    def document(self) -> Document:
        """The document `show/1` of `--json`."""
        ...


class FindingView:
    """A finding by one of its ids."""

    def __init__(self, workspace: Workspace, name: str, identity: str) -> None:
        self._workspace = workspace
        self._asked = identity
        self._finding = finding_of(workspace, identity)
        campaigns = campaigns_of(workspace, self._finding.representative.test)
        detailer = Detailer(workspace, name, queries.apis(workspace), _SHOWN)
        self._details = detailer.details(self._finding, campaigns[-1] if campaigns else None)
        self._reach = reach_of(workspace, self._finding)

    def lines(self) -> list[str]:
        details, finding = self._details, self._finding
        asked = () if self._asked in (finding.id, *finding.former_ids) else (self._asked,)
        text = [
            *(renamed(finding, each) or "" for each in (*asked, *finding.former_ids)),
            f"finding {finding.id}: {self._finding.summary}",
            f"  {plural(len(finding.tests), 'failing test')} of {finding.heading}",
        ]
        if self._finding.is_elsewhere:
            text.append(f"  met through {', '.join(self._finding.met_by)}")
        if finding.trigger is not None:
            text.append(f"  fails with {finding.trigger}")
        elif finding.reduced is not None:
            text.append("  condition unknown")
        text += _section("operators", [f"  {one_line(api)}" for api in finding.operators[:_SHOWN]], len(finding.operators))
        text += _section("symptom", _facts(details.symptom))
        text += _section("one root cause", [f"  {one_line(reason)}" for reason in finding.merged_because])
        text += _section("other compilers, on the reduced instance", _opinions(finding))
        text += _section("reduced", [f"  {line}" for line in details.reduced])
        text += _section("why this condition", [f"  {line}" for line in details.proof])
        text += _section(
            "tests whose instances meet this condition", [f"  {each.source}: {each.tests:,} of {each.of:,}" for each in self._reach]
        )
        text += _section(f"smallest instance ({finding.representative.instance[:12]})", _call(details.call))
        text += _section("evidence", lines(details.evidence) or ["  the evidence was not kept"])
        text += _section("comes from", [f"  {test}" for test in details.provenance], details.provenance_total)
        tests = [f"  {test.id[:12]}  {test.subject}  {test.form}  {one_line(test.api, 60)}  {test.headline}" for test in details.tests]
        text += _section("failing tests", tests, len(finding.tests))
        text += _section("versions", _facts(details.versions))
        text += _section("reproducer", [f"  {details.script_note}", *(f"    {line}" for line in details.script.splitlines())])
        return [*text, *_section("next steps", _facts(details.commands))]

    def _reduction(self) -> Document | None:
        """The outcome of the reduction, as JSON; None if it was not tried."""
        found = self._finding.reduction
        if found is None:
            return None
        figures = {name: value for name, value in found.detail.items() if name != "evidence"}
        return {"test": found.test, "reason": found.reason, "instance": found.document, "trigger": found.trigger, **figures}

    def document(self) -> Document:
        details, first = self._details, self._finding.representative
        return {
            "schema": SCHEMA,
            "kind": "finding",
            **finding_document(self._finding),
            "symptom": _pairs(details.symptom),
            "call": details.call.text,
            "notes": list(details.call.notes),
            "instance": first.instance,
            "detail": _detail(first),
            "versions": _pairs(details.versions),
            "provenance": list(details.provenance),
            "reach": [{"source": each.source, "tests": each.tests, "of": each.of} for each in self._reach],
            "failing": [test.test for test in self._finding.tests],
            "script": details.script or None,
            "reduction": self._reduction(),
        }


class TestView:
    """A test by its identity."""

    __test__ = False

    def __init__(self, workspace: Workspace, name: str, test: str) -> None:
        self._result = result_of(workspace, test)
        self._campaigns = campaigns_of(workspace, test)
        self._call = stored_call(Corpus(workspace), workspace.blobs, self._result.instance)
        self._name = name
        finding = finding_with(workspace, test)
        self._finding = None if finding is None else finding.id

    def lines(self) -> list[str]:
        result = self._result
        text = [f"test {result.test}", f"  {_said(result)}"]
        text += _section("made of", _facts(self._rows()))
        text += _section(f"instance {result.instance[:12]}", _call(self._call))
        found = lines(evidence(result.detail))
        text += _section("evidence", found) if found else []
        text += _section("seconds", _facts([NamedText(stage, f"{seconds:.3f}") for stage, seconds in result.seconds.items()]))
        text += _section("versions", _facts(version_rows(self._campaigns[-1] if self._campaigns else None)))
        return [*text, *_section("next steps", _facts(self._commands()))]

    def _rows(self) -> list[NamedText]:
        result = self._result
        inputs, opset = form_parts(result.form)
        rows = [
            ("subject", f"{result.compiler}/{result.frontend}"),
            ("route", result.route),
            ("input form", inputs),
            ("declared opset", "" if opset is None else str(opset)),
            ("seed", str(result.seed)),
            ("verdict", result.verdict.value),
            ("stage", result.stage.value if result.stage else ""),
            ("reason", result.reason or ""),
            ("converter", result.converter or ""),
            ("finding", self._finding or ""),
            ("campaigns", ", ".join(campaign.id for campaign in self._campaigns)),
        ]
        return [NamedText(name, one_line(value)) for name, value in rows if value]

    def _commands(self) -> list[NamedText]:
        where = option(self._name)
        rows = [NamedText("its instance", f"opera show {self._result.instance[:16]}{where}")]
        if self._finding is not None:
            rows.append(NamedText("its finding", f"opera show {self._finding}{where}"))
            if has_script(self._result.compiler, self._result.frontend):
                rows.append(NamedText("reproduce", f"opera reproduce {self._finding}{where}"))
        return rows

    def document(self) -> Document:
        result = self._result
        return {
            "schema": SCHEMA,
            "kind": "test",
            "id": result.test,
            **_result_document(result, self._finding),
            "instance": result.instance,
            "seed": result.seed,
            "converter": result.converter,
            "call": self._call.text,
            "notes": list(self._call.notes),
            "detail": _detail(result),
            "seconds": dict(result.seconds),
            "campaigns": [campaign.id for campaign in self._campaigns],
        }


class InstanceView:
    """An instance by its hash."""

    def __init__(self, workspace: Workspace, name: str, key: str) -> None:
        corpus = Corpus(workspace)
        self._key = key
        self._call = stored_call(corpus, workspace.blobs, key)
        self._document = json.loads(corpus.document(key))
        self._provenance: list[Occurrence] = corpus.provenance(key)
        self._tests = [result_of(workspace, test) for test in queries.tests_of(workspace, key)]
        failing = [test for test in self._tests if test.fingerprint is not None]
        among = findings_among(workspace, queries.apis(workspace), failing) if failing else ()
        self._findings = {test.test: finding.id for finding in among for test in finding.tests}
        self._name = name

    def lines(self) -> list[str]:
        kind, library, outcome = self._document["kind"], self._document["library"], self._document.get("outcome")
        recorded = f", {outcome} in its recording" if outcome else ""
        text = [f"instance {self._key}", f"  {self._call.api}, {kind} of {library}{recorded}"]
        text += _section("call", _call(self._call))
        for source in dict.fromkeys(each.source for each in self._provenance):
            text += _section(f"comes from {one_line(source)}", [_seen(each) for each in self._provenance if each.source == source])
        tests = [f"  {test.test[:12]}  {test.compiler}/{test.frontend}  {form_text(test.form)}  {_said(test)}" for test in self._tests]
        text += _section("tests", tests or ["  no test has run"])
        return text

    def document(self) -> Document:
        return {
            "schema": SCHEMA,
            "kind": "instance",
            "id": self._key,
            "library": self._document["library"],
            "api": self._call.api,
            "call": self._call.text,
            "notes": list(self._call.notes),
            "document": self._document,
            "provenance": [{"source": each.source, "test": each.test, "calls": each.calls} for each in self._provenance],
            "tests": [{"id": test.test, **_result_document(test, self._findings.get(test.test))} for test in self._tests],
        }


def _seen(occurrence: Occurrence) -> str:
    test = "further tests" if occurrence.test == OTHER_TESTS else one_line(occurrence.test, 160)
    return f"  {test}  {plural(occurrence.calls, 'call')}"


def _result_document(result: StoredResult, finding: str | None) -> Document:
    inputs, opset = form_parts(result.form)
    return {
        "compiler": result.compiler,
        "frontend": result.frontend,
        "route": result.route,
        "form": inputs,
        "opset": opset,
        "verdict": result.verdict.value,
        "stage": result.stage.value if result.stage else None,
        "reason": result.reason,
        "finding": finding,
    }


def _said(result: StoredResult) -> str:
    """The verdict with its ground, on one line."""
    if result.verdict is Verdict.PASS:
        return f"pass: {meaning_of(result.verdict, 1, {result.reason: 1} if result.reason else {})}"
    ground = headline(result.verdict, result.detail, result.compiler) if result.fingerprint else result.reason or result.verdict.meaning
    return one_line(f"{result.verdict.value}: {ground}")


def _section(title: str, body: Sequence[str], total: int | None = None) -> list[str]:
    """*body* under *title*; where it was cut, how much of *total* is not shown."""
    if not body:
        return []
    more = [] if total is None or total <= len(body) else [f"  and {total - len(body):,} more"]
    return ["", title, *body, *more]


def _opinions(finding: Finding) -> list[str]:
    alone = [f"  so the {finding.alone} is at fault"] if finding.alone else []
    return [*(f"  {each}" for each in finding.opinions), *alone]


def _facts(rows: Sequence[NamedText]) -> list[str]:
    width = max((len(row.name) for row in rows), default=0)
    return [f"  {row.name.ljust(width)}  {row.value}" for row in rows]


def _call(call: CallText) -> list[str]:
    return [*(f"  {line}" for line in call.text.splitlines()), *(f"  # {note}" for note in call.notes)]


def _pairs(rows: Sequence[NamedText]) -> dict[str, str]:
    return {row.name: row.value for row in rows}


def _detail(result: StoredResult) -> dict[str, object]:
    """What the worker left behind, with the name of the exporter if one failed."""
    return {**result.detail, **({} if result.exporter is None else {"exporter": result.exporter})}
