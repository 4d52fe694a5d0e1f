"""Findings that a maintainer reads as one: other operators of a compiler that fail alike under the same condition."""

from __future__ import annotations

from collections.abc import Iterable

from opera.report.symptoms import symptom_of
from opera.report.titles import detail_of, title
from opera.triage.findings import Finding


def siblings(finding: Finding, among: Iterable[Finding]) -> list[Finding]:
    """The findings *among* others that are like *finding*: same subject, symptom and condition, tensors by place and not by name."""
    mark = _mark(finding)
    return [] if mark is None else [each for each in among if each.id != finding.id and _mark(each) == mark]


def named(finding: Finding) -> str:
    """A sibling in a list: its id and its title."""
    return f"{finding.id}: {title(finding)}"


def _mark(finding: Finding) -> tuple[str, ...] | None:
    """What siblings share; None where the condition is unknown, or only that the result is seen."""
    condition = finding.condition
    if condition is None or not condition.core():
        return None
    detail = detail_of(finding)
    failure = detail.get("failure", {})
    return finding.subject, symptom_of(finding.verdict, detail), str(finding.stage), str(failure.get("type")), condition.anonymous()
