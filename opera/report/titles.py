"""The words for a finding in a list: what fails, under which condition, and what was seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from opera.compilers.registry import noise_of
from opera.console import one_line
from opera.instance.kinds import noun_of
from opera.oracles.fingerprint import NEWER_OPSET, summary
from opera.oracles.verdict import Detail, Verdict
from opera.report.conditions import when
from opera.report.reproducer import reduced
from opera.report.symptoms import SEVERITY, symptom_of
from opera.report.text import without_signatures
from opera.triage.findings import Finding

_ORDER = list(SEVERITY)
_MOST_NAMES = 4
"""Operators that a title names."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?\Z")


def severity(finding: Finding) -> tuple[int, int, str, str]:
    """The key that sorts findings: the worst first, then the most frequent."""
    return _ORDER.index(finding.verdict), -len(finding.tests), operator_of(finding), finding.id


def counted(findings: Iterable[Finding]) -> str:
    """`57 silent wrong results, 1 abort, 66 crashes`."""
    counts = Counter(each.verdict for each in findings)
    return ", ".join(f"{counts[verdict]:,} {words[counts[verdict] != 1]}" for verdict, words in SEVERITY.items() if counts[verdict])


def operator_of(finding: Finding) -> str:
    """The operator of the representative without `ai.onnx.`; with how many others, if there are any."""
    reduction = finding.reduced
    api = next(iter(finding.operators)) if reduction is None else reduction.api
    noun = noun_of(api)
    if noun is not None:
        names = () if reduction is None else reduction.kind.behaviour.operators(reduction)
        shown = " + ".join((*names[:_MOST_NAMES], *([f"{len(names) - _MOST_NAMES:,} more"] if len(names) > _MOST_NAMES else [])))
        return one_line(f"{noun}{' of ' if shown else ''}{shown}", 80)
    others = len(finding.operators) - 1
    return one_line(api.removeprefix("ai.onnx."), 80) + (f" and {others:,} more" if others > 0 else "")


def title(finding: Finding) -> str:
    """`MaxPool: wrong shape when ceil_mode>0 and strides has an entry >1`."""
    if finding.converter == NEWER_OPSET:
        return f"{operator_of(finding)}: wrong result of a newer opset, which it loads without a word"
    stage = "" if finding.stage is None or finding.verdict is Verdict.INCONSISTENT else f" at {finding.stage.value}"
    what = f"{operator_of(finding)}: {symptom_of(finding.verdict, detail_of(finding))}{stage}"
    return what + when(finding)


def detail_of(finding: Finding) -> Detail:
    """What the reduced instance left behind; the representative without a reduction."""
    case = reduced(finding)
    return finding.representative.detail if case is None else case.result.detail


def seen(finding: Finding) -> str:
    """One line: expected and actual values with four digits, or the message without C++ signatures."""
    detail = detail_of(finding)
    if "difference" in detail:
        difference = detail["difference"]
        text = f"expected {number(difference['expected'])}, got {number(difference['actual'])}"
        share = difference.get("share")
        return one_line(f"{text} ({share:.0%} of the elements)" if isinstance(share, float) and share < 1 else text)
    if "failure" in detail:
        failure = detail["failure"]
        message = summary(without_signatures(str(failure["message"])), noise_of(finding.representative.compiler))
        return one_line(f"{str(failure['type']).rsplit('.', 1)[-1]}: {message}")
    return finding.summary


def number(value: object) -> str:
    """A number with four digits; any other text as it is."""
    text = str(value)
    return f"{float(text):.4g}" if _NUMBER.match(text) else one_line(text, 400)
