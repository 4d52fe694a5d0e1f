"""The findings in formats of CI systems: JUnit XML, SARIF, and a Markdown summary."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree as xml

from opera import __version__
from opera.console import block, one_line, option, plural
from opera.oracles.verdict import Verdict
from opera.report.details import detail_of, evidence, lines, seen, title
from opera.report.overview import Finding, Overview
from opera.report.terminal import id_digits
from opera.report.words import code, inline
from opera.untrusted import JsonObject

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_ROWS = 50
_LEVELS: Mapping[Verdict, str] = {Verdict.ABORT: "error", Verdict.INCONSISTENT: "error", Verdict.CRASH: "error"}


def junit(view: Overview, workspace: str) -> str:
    """JUnit XML: a suite per subject; a case per operator without a finding, and one per operator and finding.

    A case fails with its finding, and is skipped if the finding is known.

    Args:
        view: What to write.
        workspace: How the user calls it.
    """
    findings = _by_operator(view.findings)
    digits = id_digits(view)
    root = xml.Element("testsuites", name="opera")
    for subject in view.subjects:
        name = one_line(subject.name)
        suite = xml.SubElement(root, "testsuite", name=name)
        for each in view.operators:
            if each.subject != subject.name:
                continue
            own = findings.get((each.api, subject.name), [])
            if not own:
                xml.SubElement(suite, "testcase", classname=name, name=one_line(each.api))
            for finding in own:
                case = xml.SubElement(suite, "testcase", classname=name, name=f"{one_line(each.api)} {finding.id[:digits]}")
                _add_outcome(case, finding, view, workspace)
    return written(root)


def written(suites: xml.Element) -> str:
    """The text of a JUnit document, with the counts of each suite."""
    for suite in suites:
        counts = {"tests": len(suite), "failures": len(suite.findall("*/failure")), "errors": 0, "skipped": len(suite.findall("*/skipped"))}
        suite.attrib.update({key: str(count) for key, count in counts.items()})
    xml.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(suites, encoding="unicode") + "\n"


def _add_outcome(case: xml.Element, finding: Finding, view: Overview, workspace: str) -> None:
    """Adds the failure of *finding* to its case, or the reason why the case is skipped."""
    message = _sentence(finding)
    reason = view.known.get(finding.id)
    if reason is not None:
        xml.SubElement(case, "skipped", message=one_line(f"known: {reason}; {message}"))
        return
    failure = xml.SubElement(case, "failure", type=finding.verdict.value, message=message)
    failure.text = "\n".join([block("\n".join(lines(evidence(detail_of(finding))))), *_commands(finding, workspace)])


def _sentence(finding: Finding) -> str:
    """The title and what was seen, with a limit that no message of a compiler reaches by a signature."""
    return one_line(f"{title(finding)}: {seen(finding)}", 1000)


def _commands(finding: Finding, workspace: str) -> list[str]:
    """The commands that show the finding, and reproduce it where a script can."""
    names = ("show", "reproduce") if finding.has_script else ("show",)
    return [f"opera {name} {finding.id}{option(workspace)}" for name in names]


def _by_operator(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    grouped: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        for api in finding.operators:
            for subject in finding.met_by:
                grouped.setdefault((api, subject), []).append(finding)
    return grouped


def sarif(view: Overview, workspace: str) -> str:
    """SARIF 2.1.0 as GitHub takes it: a rule per verdict, and a result per finding, whose place is the finding's script."""
    rules = [
        {
            "id": verdict.value,
            "shortDescription": {"text": verdict.meaning},
            "fullDescription": {"text": f"OPERA ran a test of a library on a compiler: {verdict.meaning}."},
            "help": {"text": "`opera show ID` prints all facts of a finding."},
        }
        for verdict in Verdict
        if any(each.verdict is verdict for each in view.findings)
    ]
    document: JsonObject = {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "opera", "version": __version__, "rules": rules}},
                "results": [_result(each, view, workspace) for each in view.findings],
            }
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _result(finding: Finding, view: Overview, workspace: str) -> JsonObject:
    reason = view.known.get(finding.id)
    suppressions = [{"kind": "external", "status": "accepted", "justification": _plain(reason)}] if reason is not None else []
    converter = one_line(finding.converter or "unknown")
    name = one_line(f"{finding.heading}/{converter}")
    return {
        "ruleId": finding.verdict.value,
        "level": _LEVELS.get(finding.verdict, "warning"),
        "message": {"text": f"{_plain(finding.heading)}: {_plain(_sentence(finding))}\n{_commands(finding, workspace)[-1]}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _script(finding, workspace)},
                    "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
                },
                "logicalLocations": [{"name": converter, "fullyQualifiedName": name, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"opera/v1": finding.id, "primaryLocationLineHash": f"{finding.id}:1"},
        "suppressions": suppressions,
        "properties": {
            "operators": [one_line(api) for api in finding.operators],
            "stage": finding.stage.value if finding.stage else None,
            "tests": len(finding.tests),
            "verified": finding.verified,
        },
    }


def _script(finding: Finding, workspace: str) -> str:
    """The place of the finding's script as `opera reproduce` writes it, relative to the working folder, which is the repository in CI."""
    folder = Path(os.path.relpath(workspace))
    inside = folder if ".." not in folder.parts else Path(folder.name)
    return quote((inside / "reproducers" / f"{finding.id}.py").as_posix())


def _plain(text: str) -> str:
    """Foreign text in a message of SARIF, in which `[words](target)` is a link."""
    return one_line(text, 1000).replace("](", "] (")


def markdown(view: Overview, workspace: str) -> str:
    """A summary for a job's page: subjects, the first findings, and why the other tests are none."""
    verdicts = [verdict for verdict in Verdict if any(verdict in subject.verdicts for subject in view.subjects)]
    lines = ["## OPERA", ""]
    lines += _table(
        ["subject", "tests", *(verdict.value for verdict in verdicts)],
        [[_cell(each.name), f"{each.tests:,}", *(f"{each.verdicts.get(verdict, 0):,}" for verdict in verdicts)] for each in view.subjects],
    )
    new = view.new_findings
    lines += ["", f"### {plural(len(new), 'new finding' if view.known or view.left_out else 'finding')}", ""]
    lines += _table(_COLUMNS, [_row(each) for each in new[:_MOST_ROWS]]) if new else []
    if len(new) > _MOST_ROWS:
        command = f"opera report --all{view.scope.options}{option(workspace)}"
        lines.append(f"\n{len(new) - _MOST_ROWS:,} more: {code(command, 10_000)}")
    if view.known:
        lines += ["", f"<details><summary>{plural(len(view.known), 'known finding')}</summary>", ""]
        known = view.known_findings[:_MOST_ROWS]
        lines += _table([*_COLUMNS, "known"], [[*_row(each), _cell(view.known[each.id])] for each in known])
        lines += ["", "</details>"]
    reasons = view.filtered_by_reason()
    if reasons:
        total = sum(count for _, count in reasons)
        lines += ["", f"<details><summary>{plural(total, 'test')} that are not findings</summary>", ""]
        lines += _table(["reason", "tests"], [[_cell(reason), f"{count:,}"] for reason, count in reasons])
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


_COLUMNS = ["id", "subject", "finding", "seen", "tests"]


def _row(finding: Finding) -> list[str]:
    return [f"`{finding.id[:8]}`", _cell(finding.heading), _cell(title(finding)), _cell(seen(finding)), f"{len(finding.tests):,}"]


def _table(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def _cell(text: str) -> str:
    """Foreign text in a table. A backslash before a bar would escape the bar's own."""
    return inline(text, 400).replace("\\|", "\\ |").replace("|", "\\|")
