"""The findings in formats of CI systems: JUnit XML, SARIF, and a Markdown summary."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree as xml

from opera import __version__
from opera.console import one_line, option, plural
from opera.oracles.verdict import Verdict
from opera.report.overview import Finding, Overview
from opera.report.text import code, inline
from opera.untrusted import JsonObject

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_ROWS = 50
_LEVELS: Mapping[Verdict, str] = {Verdict.ABORT: "error", Verdict.INCONSISTENT: "error", Verdict.CRASH: "error"}


def junit(view: Overview, workspace: str) -> str:
    """JUnit XML: a suite per subject, a case per operator. A case fails with every finding that the operator has.

    Args:
        view: What to write.
        workspace: How the user calls it.
    """
    findings = _by_operator(view.findings)
    root = xml.Element("testsuites", name="opera")
    for subject in view.subjects:
        operators = [each for each in view.operators if each.subject == subject.name]
        failing = sum(1 for each in operators if findings.get((each.api, subject.name)))
        suite = xml.SubElement(
            root, "testsuite", name=one_line(subject.name), tests=str(len(operators)), failures=str(failing), errors="0", skipped="0"
        )
        for each in operators:
            case = xml.SubElement(suite, "testcase", classname=one_line(subject.name), name=one_line(each.api))
            for finding in findings.get((each.api, subject.name), ()):
                message = f"{finding.verdict.value} in {finding.converter or 'an unknown converter'}: {finding.summary}"
                failure = xml.SubElement(case, "failure", type=finding.verdict.value, message=one_line(message))
                failure.text = f"opera show {finding.id}{option(workspace)}\nopera reproduce {finding.id}{option(workspace)}"
    xml.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _by_operator(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    grouped: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        for api in finding.operators:
            for subject in finding.met_by:
                grouped.setdefault((api, subject), []).append(finding)
    return grouped


def sarif(view: Overview, workspace: str) -> str:
    """SARIF 2.1.0: a rule per verdict, a result per finding, with its fingerprint and the converter as its logical location."""
    rules = [
        {"id": verdict.value, "shortDescription": {"text": verdict.meaning}}
        for verdict in Verdict
        if any(each.verdict is verdict for each in view.findings)
    ]
    document: JsonObject = {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "opera", "version": __version__, "rules": rules}},
                "results": [_result(each, workspace) for each in view.findings],
            }
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _result(finding: Finding, workspace: str) -> JsonObject:
    converter = one_line(finding.converter or "unknown")
    return {
        "ruleId": finding.verdict.value,
        "level": _LEVELS.get(finding.verdict, "warning"),
        "message": {"text": f"{_plain(finding.heading)}: {_plain(finding.summary)}\nopera reproduce {finding.id}{option(workspace)}"},
        "locations": [
            {
                "logicalLocations": [
                    {"name": converter, "fullyQualifiedName": one_line(f"{finding.heading}/{converter}"), "kind": "function"}
                ]
            }
        ],
        "partialFingerprints": {"opera/v1": finding.id},
        "properties": {
            "operators": [one_line(api) for api in finding.operators],
            "stage": finding.stage.value if finding.stage else None,
            "tests": len(finding.tests),
            "verified": finding.verified,
        },
    }


def _plain(text: str) -> str:
    """Foreign text in a message of SARIF, in which `[words](target)` is a link."""
    return one_line(text).replace("](", "] (")


def markdown(view: Overview, workspace: str) -> str:
    """A summary for a job's page: subjects, the first findings, and why the other tests are none."""
    verdicts = [verdict for verdict in Verdict if any(verdict in subject.verdicts for subject in view.subjects)]
    lines = ["## OPERA", ""]
    lines += _table(
        ["subject", "tests", *(verdict.value for verdict in verdicts)],
        [[_cell(each.name), f"{each.tests:,}", *(f"{each.verdicts.get(verdict, 0):,}" for verdict in verdicts)] for each in view.subjects],
    )
    lines += ["", f"### {plural(len(view.findings), 'finding')}", ""]
    lines += _table(
        ["id", "subject", "verdict", "stage", "converter", "tests", "summary"],
        [
            [
                f"`{each.id[:8]}`",
                _cell(each.heading),
                each.verdict.value,
                each.stage.value if each.stage else "",
                _cell(each.converter or ""),
                f"{len(each.tests):,}",
                _cell(each.summary),
            ]
            for each in view.findings[:_MOST_ROWS]
        ],
    )
    if len(view.findings) > _MOST_ROWS:
        command = f"opera report --all{view.scope.options}{option(workspace)}"
        lines.append(f"\n{len(view.findings) - _MOST_ROWS:,} more: {code(command, 10_000)}")
    reasons = view.filtered_by_reason()
    if reasons:
        total = sum(count for _, count in reasons)
        lines += ["", f"<details><summary>{plural(total, 'test')} that are not findings</summary>", ""]
        lines += _table(["reason", "tests"], [[_cell(reason), f"{count:,}"] for reason, count in reasons])
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def _cell(text: str) -> str:
    """Foreign text in a table. A backslash before a bar would escape the bar's own."""
    return inline(text, 160).replace("\\|", "\\ |").replace("|", "\\|")
