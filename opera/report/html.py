"""The report as one HTML file without other files. The same results give the same bytes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from opera import __version__
from opera.console import block, option, write
from opera.oracles.verdict import Verdict
from opera.report.charts import bars, heat_map, trend
from opera.report.details import Detailer, version_rows
from opera.report.overview import Curve, Filtered, Finding, Overview
from opera.report.terminal import id_digits
from opera.store import Workspace

_TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
_ROWS = 5_000
_ROW_BYTES = 2_500_000
_DETAIL_BYTES = 5_500_000
_TEXT = 25_000
"""Characters of any text that is not ours."""
_SHOWN_TESTS = 20
_SHOWN_REASONS = 200


@dataclass(frozen=True)
class FindingEntry:
    """A finding in the table: the summary row, and its details unless the page has no room for them."""

    row: Markup
    details: Markup


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


def write_html(path: Path, workspace: Workspace, name: str, view: Overview) -> None:
    """Writes the report to *path*, at once or not at all.

    Args:
        path: The file; its folder is made. `-` is standard output.
        workspace: Open; only read.
        name: How the user calls the workspace.
        view: What to write.
    """
    write(path, render(workspace, name, view))


def render(workspace: Workspace, name: str, view: Overview) -> str:
    """The page as text."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["count"] = lambda number: f"{number:,}"
    script = (_TEMPLATES / "report.js.j2").read_text(encoding="utf-8")
    entries = list(_Entries(environment, workspace, name, view))
    return environment.get_template("report.html.j2").render(
        style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
        view=view,
        verdicts=[verdict for verdict in Verdict if any(verdict in subject.verdicts for subject in view.subjects)],
        failing=[verdict for verdict in Verdict if any(each.verdict is verdict for each in view.findings)],
        headings=sorted({each.heading for each in view.findings}),
        bars=bars(view),
        trend=trend(view),
        heat=heat_map(view),
        entries=entries,
        reasons=_reasons(view.filtered)[:_SHOWN_REASONS],
        campaigns=[_part(curve) for curve in view.curves],
        where=f"{view.scope.options}{option(name)}",
    )


def _printable(value: Any) -> Any:
    """The text that templates print: all text except OPERA's own markup may come from a compiler."""
    return block(value, _TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


class _Entries:
    """The findings, rendered until the page is full: rows first, then details, those of frequent findings first."""

    def __init__(self, environment: Environment, workspace: Workspace, name: str, view: Overview) -> None:
        self._row = environment.get_template("report_row.html.j2")
        self._details = environment.get_template("report_finding.html.j2")
        self._detailer = Detailer(workspace, name, view.apis, _SHOWN_TESTS)
        self._view = view
        self._name = name

    def __iter__(self) -> Iterator[FindingEntry]:
        digits = id_digits(self._view)
        rows = _fitting(
            self._row,
            [{"finding": each, "digits": digits, "known": self._view.known.get(each.id)} for each in self._view.findings[:_ROWS]],
            _ROW_BYTES,
        )
        shown = self._view.findings[: len(rows)]
        details = self._fill(shown)
        for finding, row in zip(shown, rows, strict=True):
            command = f"opera show {finding.id}{option(self._name)}"
            yield FindingEntry(
                row,
                details.get(finding.id) or Markup("<p>The details do not fit on this page: <code>{}</code></p>").format(command),
            )

    def _fill(self, shown: Sequence[Finding]) -> dict[str, Markup]:
        details: dict[str, Markup] = {}
        room = _DETAIL_BYTES
        for finding in sorted(shown, key=lambda each: (-len(each.tests), each.id)):
            campaign = self._view.campaign_of.get(finding.representative.test)
            text = self._details.render(details=self._detailer.details(finding, campaign))
            room -= len(text.encode("utf-8", "replace"))
            if room < 0:
                break
            details[finding.id] = Markup(text)
        return details


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
