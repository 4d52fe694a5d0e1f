"""The report as one HTML file without other files. The same results give the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from opera import __version__
from opera.config import load_config
from opera.console import block, check_outputs, doing, one_line, option, plural, say, write
from opera.corpus.stored_call import full_text
from opera.oracles.verdict import Verdict
from opera.report import ci
from opera.report import details as worded
from opera.report.charts import bars, trend
from opera.report.details import COMPILER, LIBRARY, Detailer, Details, evidence, version_rows
from opera.report.matrix import Matrix, matrices
from opera.report.overview import Curve, Filtered, Finding, Overview
from opera.report.scripts import ModelSources, WrittenScript, write_script
from opera.report.terminal import id_digits
from opera.report.words import SEVERITY
from opera.store import Campaign, Campaigns, Workspace

_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "page"
_ROWS = 5_000
_ROW_BYTES = 2_500_000
_DETAIL_BYTES = 3_500_000
_SCRIPT_BYTES = 2_000_000
_CELLS = 15_000
"""Cells of the tables of operators."""
_TEXT = 25_000
"""Characters of any text that is not ours."""
_SHOWN_TESTS = 20
_SHOWN_REASONS = 200
_NAME = 200
"""Characters of an operator's name that a link can hold."""
_SHOWN_OPERATORS = 200
"""Operators of a finding that filters know."""

ScriptOf = Callable[[Finding, Campaign | None], WrittenScript]
"""Writes the script of a finding."""


@dataclass(frozen=True)
class FindingEntry:
    """A finding in the list: the summary row, its details and its script; both of the latter say so where the page has no room for them."""

    row: Markup
    details: Markup
    script: Markup


@dataclass(frozen=True)
class SeverityGroup:
    """The findings of one severity."""

    verdict: Verdict
    title: str
    count: int
    entries: tuple[FindingEntry, ...]


@dataclass(frozen=True)
class Chip:
    """A button that filters findings: *value* in the URL, *label* for a person."""

    value: str
    label: str
    count: int


@dataclass(frozen=True)
class PageHead:
    """The first lines of the page.

    Attributes:
        sentence: What is broken, and how much of it.
        grouping: By what the findings are grouped: triage may be done, begun or missing.
        facts: Date, machines and versions, each once.
    """

    sentence: str
    grouping: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class ShownMatrix:
    """The table of a library's operators; *left_out* of them do not fit, and failing operators are kept first."""

    table: Matrix
    left_out: int


@dataclass(frozen=True)
class Reason:
    """Why tests are no findings, over all subjects."""

    verdict: Verdict
    reason: str
    tests: int
    subjects: str


@dataclass(frozen=True)
class CampaignSummary:
    """A campaign, for the table of campaigns."""

    curve: Curve
    versions: str
    settings: str

    @property
    def build(self) -> str:
        """The label of the compiler's build; empty where none was given."""
        return self.curve.campaign.build or ""


def write_html(path: Path, workspace: Workspace, name: str, view: Overview, script_of: ScriptOf | None = None) -> None:
    """Writes the report to *path*, at once or not at all.

    Args:
        path: The file; its folder is made. `-` is standard output.
        workspace: Open; only read.
        name: How the user calls the workspace.
        view: What to write.
        script_of: Writes the scripts that the workspace does not have; None leaves them out.
    """
    write(path, lambda: render(workspace, name, view, script_of))


def render(workspace: Workspace, name: str, view: Overview, script_of: ScriptOf | None = None) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    filters = cast("dict[str, Callable[..., str]]", environment.filters)
    filters |= {"count": _count, "plural": plural}
    script = (_TEMPLATES / "report.js.j2").read_text(encoding="utf-8")
    findings = sorted(view.findings, key=worded.severity)
    entries = list(_Entries(environment, workspace, name, view, findings, script_of))
    return environment.get_template("report.html.j2").render(
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
        view=view,
        head=_head(workspace, view),
        groups=_groups(findings, entries),
        verdict_chips=[Chip(verdict.value, words, count) for verdict, words, count in _severities(findings)],
        subject_chips=[Chip(heading, heading, count) for heading, count in sorted(Counter(each.heading for each in findings).items())],
        verified=sum(each.verified for each in findings),
        verdicts=[verdict for verdict in Verdict if any(verdict in subject.verdicts for subject in view.subjects)],
        bars=bars(view),
        trend=trend(view),
        matrices=list(_shown(matrices(workspace, lambda _: True, view.scope))),
        linked=_linked(findings[: len(entries)], view.apis),
        shown=len(entries),
        reasons=_reasons(view.filtered)[:_SHOWN_REASONS],
        campaigns=[_part(curve) for curve in view.curves],
        where=f"{view.scope.options}{option(name)}",
    )


def _count(number: int) -> str:
    return f"{number:,}"


def _printable(value: Any) -> Any:
    """The text that templates print: all text except OPERA's own markup may come from a compiler."""
    return block(value, _TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def _head(workspace: Workspace, view: Overview) -> PageHead:
    counts = worded.counted(view.findings)
    sentence = f"{plural(len(view.subjects), 'subject')}, {plural(len(view.findings), 'finding')}"
    days = sorted({curve.campaign.started[:10] for curve in view.curves})
    dates = f"{days[0]} to {days[-1]}" if len(days) > 1 else days[0]
    machines = [_machine(document) for document in Campaigns(workspace).machines().values()]
    versions = dict.fromkeys(
        f"{row.name} {row.value}" for curve in view.curves for row in version_rows(curve.campaign) if row.value[:1].isdigit()
    )
    facts = (f"{dates} (UTC)", *machines, *sorted(versions))
    return PageHead(f"{sentence}{': ' if counts else ''}{counts}", _grouping(view.findings), facts)


def _machine(document: Mapping[str, Any]) -> str:
    """`AMD EPYC, 2 cores, Linux x86_64`."""
    processor, cores, system, architecture = (document.get(name, "?") for name in ("processor", "cores", "system", "architecture"))
    count = plural(cores, "core") if isinstance(cores, int) else "cores unknown"
    return one_line(f"{processor}, {count}, {system} {architecture}", 120)


def _grouping(findings: Sequence[Finding]) -> str:
    tried = sum(each.reduction is not None for each in findings)
    if not findings or tried == len(findings):
        return "Each finding is one root cause, as far as triage can tell." if findings else ""
    if tried:
        return (
            f"Triage has looked at {tried:,} of the {len(findings):,} findings. The others are counted before triage, by fingerprint:"
            " several of them may have one root cause. opera triage continues."
        )
    return "Counted before triage: one finding for each fingerprint. Several may have one root cause; opera triage groups them."


def _severities(findings: Sequence[Finding]) -> list[tuple[Verdict, str, int]]:
    """Verdict, words and number of the findings of each severity that occurs, the worst first."""
    counts = Counter(each.verdict for each in findings)
    return [(verdict, words[counts[verdict] != 1], counts[verdict]) for verdict, words in SEVERITY.items() if counts[verdict]]


def _groups(findings: Sequence[Finding], entries: Sequence[FindingEntry]) -> list[SeverityGroup]:
    titled = {verdict: (words, count) for verdict, words, count in _severities(findings)}
    pairs = zip(findings, entries, strict=False)
    return [
        SeverityGroup(verdict, *titled[verdict], tuple(entry for _, entry in among))
        for verdict, among in groupby(pairs, key=lambda pair: pair[0].verdict)
    ]


def _linked(findings: Sequence[Finding], apis: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """The operators and subjects that have a finding on the page."""
    pairs = {(apis.get(test.instance, ""), test.subject) for finding in findings for test in finding.tests}
    return frozenset((api, subject) for api, subject in pairs if len(api) <= _NAME)


def _shown(tables: Sequence[Matrix]) -> Iterator[ShownMatrix]:
    """The tables, cut to what the page has room for; failing operators come before others in what is kept."""
    room = _CELLS
    for table in tables:
        most = max(1, room // max(1, len(table.columns)))
        kept = frozenset(sorted(table.operators, key=lambda api: not table.state(api).is_bad)[:most])
        room -= len(kept) * len(table.columns)
        yield ShownMatrix(table.only(kept.__contains__), len(table.operators) - len(kept))


class _Entries:
    """The findings in their order, rendered until the page is full: first rows, then details, then scripts."""

    def __init__(
        self,
        environment: Environment,
        workspace: Workspace,
        name: str,
        view: Overview,
        findings: Sequence[Finding],
        script_of: ScriptOf | None,
    ) -> None:
        self._row = environment.get_template("report_row.html.j2")
        self._details = environment.get_template("report_finding.html.j2")
        self._script = environment.get_template("report_script.html.j2")
        self._detailer = Detailer(workspace, name, view.apis, _SHOWN_TESTS)
        self._view = view
        self._where = option(name)
        self._findings = findings
        self._script_of = script_of
        self._room = {"details": _DETAIL_BYTES, "script": _SCRIPT_BYTES}

    def __iter__(self) -> Iterator[FindingEntry]:
        digits = id_digits(self._view)
        contexts = [{**_row(finding), "digits": digits, "known": self._view.known.get(finding.id)} for finding in self._findings[:_ROWS]]
        rows = _fitting(self._row, contexts, _ROW_BYTES)
        for finding, row in zip(self._findings, rows, strict=False):
            yield FindingEntry(row, *self._parts(finding))

    def _parts(self, finding: Finding) -> tuple[Markup, Markup]:
        """Details and script of a finding, or the command that shows them where the page is full."""
        command = Markup("<p>{} not shown, because the page is full: <code>{}</code></p>")
        campaign = self._view.campaign_of.get(finding.representative.test)
        if self._room["details"] <= 0:
            return command.format("Details", f"opera show {finding.id}{self._where}"), Markup()
        details = self._detailer.details(finding, campaign)
        shown = {"finding": finding, "where": self._where, "details": details, **_detail(finding, details)}
        text = self._fit("details", self._details.render(shown), command.format("Details", f"opera show {finding.id}{self._where}"))
        script = WrittenScript(details.script, details.script_note)
        if not script.text and self._script_of is not None and self._room["script"] > 0:
            script = self._script_of(finding, campaign)
        elsewhere = command.format("Script", f"opera reproduce {finding.id} --no-run{self._where}")
        return text, self._fit("script", self._script.render(script=script, finding=finding, where=self._where), elsewhere)

    def _fit(self, kind: str, text: str, otherwise: Markup) -> Markup:
        """*text*, where there is room for it; the first that does not fit ends the room for all."""
        self._room[kind] -= len(text.encode("utf-8", "replace"))
        return Markup(text) if self._room[kind] > 0 else otherwise


def _detail(finding: Finding, details: Details) -> dict[str, object]:
    """The call that fails, and what it left behind: of the reduced instance where there is one."""
    detail, instance = worded.detail_of(finding), finding.reduced
    difference, seen = detail.get("difference"), evidence(detail)
    return {
        "call": details.call.text if instance is None else full_text(instance),
        "seen": seen,
        "sides": None if difference is None else (worded.number(difference["expected"]), worded.number(difference["actual"])),
        "facts": [row for row in seen.difference if row.name not in (LIBRARY, COMPILER)],
    }


def _row(finding: Finding) -> dict[str, object]:
    return {
        "finding": finding,
        "title": worded.title(finding),
        "seen": worded.seen(finding),
        "operators": _json([api for api in finding.operators if len(api) <= _NAME][:_SHOWN_OPERATORS]),
        "subjects": _json(finding.met_by),
    }


def _json(names: Sequence[str]) -> Markup:
    """Plain ASCII for an attribute, never cut: the page reads it."""
    return escape(json.dumps(names))


def _fitting(template: Template, contexts: Sequence[dict[str, object]], room: int) -> list[Markup]:
    """Renders *template* with each of *contexts* until *room* bytes are full."""
    rendered: list[Markup] = []
    for context in contexts:
        text = template.render(context)
        room -= len(text.encode("utf-8", "replace"))
        if room < 0:
            break
        rendered.append(Markup(text))
    return rendered


def _reasons(filtered: Sequence[Filtered]) -> list[Reason]:
    keys = sorted({(each.verdict, each.reason) for each in filtered}, key=lambda key: (key[0].value, key[1]))
    reasons: list[Reason] = []
    for verdict, reason in keys:
        own = [each for each in filtered if each.verdict is verdict and each.reason == reason]
        subjects = ", ".join(f"{each.subject} {each.tests:,}" for each in own)
        reasons.append(Reason(verdict, reason, sum(each.tests for each in own), subjects))
    return sorted(reasons, key=lambda each: (-each.tests, each.verdict.value, each.reason))


def _part(curve: Curve) -> CampaignSummary:
    chosen = {name: value for name, value in curve.campaign.settings.items() if value is not None and name not in ("compiler", "frontend")}
    settings = ", ".join(f"{name}={_setting(value)}" for name, value in chosen.items())
    return CampaignSummary(curve, ", ".join(f"{row.name} {row.value}" for row in version_rows(curve.campaign)), settings)


def _setting(value: Any) -> str:
    return "+".join(str(item) for item in cast("list[Any]", value)) if isinstance(value, list) else str(value)


@dataclass(frozen=True)
class ReportFiles:
    """Where each form of a report goes: a file, `-` for standard output, or None."""

    html: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """All that are given."""
        return tuple(path for path in (self.html, self.junit, self.sarif, self.markdown) if path is not None)

    def check(self, *, as_json: bool) -> None:
        """Raises UserError where more than one document would go to standard output."""
        check_outputs(as_json, *self.paths)

    def write(self, workspace: Workspace, name: str, view: Overview, *, scripts: bool) -> None:
        """Writes *view* in each form.

        Args:
            workspace: Open; only read.
            name: How the user calls the workspace.
            view: The report.
            scripts: Whether the page gets the scripts that the workspace does not have yet; a worker of each library writes them.
        """
        if self.html is not None and scripts:
            doing(f"writing the scripts of {plural(len(view.findings), 'finding')}; --no-scripts leaves them out")
            with ModelSources(workspace, load_config()) as sources:
                write_html(self.html, workspace, name, view, partial(write_script, workspace, sources))
        elif self.html is not None:
            write_html(self.html, workspace, name, view)
        for path, form in ((self.junit, ci.junit), (self.sarif, ci.sarif), (self.markdown, ci.markdown)):
            if path is not None:
                write(path, form(view, name))
        for path in self.paths:
            say(f"wrote {path}: {plural(len(view.findings), 'finding')} from {plural(view.tests, 'test')}")
