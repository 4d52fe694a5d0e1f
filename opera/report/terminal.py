"""The report as a person reads it on a terminal, and as `report/1` for scripts."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby

from opera.console import echo, one_line, option, plural, print_table
from opera.difftest.judge import HARNESS_ERROR
from opera.difftest.messages import NOTHING_COMPARED, REJECTED, SAME_SIGNATURE
from opera.oracles.verdict import Verdict
from opera.report import details as worded
from opera.report.overview import Finding, Overview
from opera.report.words import layer_of
from opera.untrusted import JsonObject

SCHEMA = "report/1"
_ID = 8


def document(view: Overview) -> JsonObject:
    """The overview as a document `report/1`."""
    return {
        "schema": SCHEMA,
        "subjects": [
            {
                "compiler": each.compiler,
                "frontend": each.frontend,
                "tests": each.tests,
                "verdicts": {verdict.value: count for verdict, count in each.verdicts.items()},
            }
            for each in view.subjects
        ],
        "campaigns": [{"id": each.campaign.id, "complete": each.campaign.complete, "tests": each.tests} for each in view.curves],
        "findings": [{**finding_document(each, view.findings), "known": view.known.get(each.id)} for each in view.findings],
        "known_left_out": view.left_out,
        "filtered": dict(view.filtered_by_reason()),
    }


def finding_document(finding: Finding, among: Iterable[Finding] = ()) -> JsonObject:
    """One entry of `findings`; *among* are the others."""
    lowest, layer = finding.lowest_level, layer_of(finding, among)
    return {
        "id": finding.id,
        "former_ids": list(finding.former_ids),
        "compiler": finding.compiler,
        "frontend": finding.frontend,
        "route": finding.route,
        "operators": list(finding.operators),
        "verdict": finding.verdict.value,
        "stage": finding.stage.value if finding.stage else None,
        "converter": None if finding.converter is None else one_line(finding.converter),
        "summary": finding.summary,
        "tests": len(finding.tests),
        "verified": finding.verified,
        "reproducer": finding.reproducer,
        "lowest_level": None if lowest is None else {"name": lowest.name, "verdict": lowest.verdict.value},
        "layer": None if layer is None else {"name": layer.name, "why": layer.why},
        "representative": finding.representative.test,
        "met_by": list(finding.met_by),
        "trigger": finding.trigger,
        "reduced": finding.reduction is not None and finding.reduction.reason is None,
        "fingerprints": list(finding.fingerprints),
        "merged_because": list(finding.merged_because),
        "stands_alone": finding.alone,
        "other_compilers": [{"subject": each.subject, "side": each.side} for each in finding.opinions],
    }


def print_overview(view: Overview, workspace: str, *, rows: int | None) -> None:
    """Prints the report.

    Args:
        view: What to print.
        workspace: How the user calls it.
        rows: Most findings per subject; all when None.
    """
    _print_subjects(view)
    digits = id_digits(view)
    new = "new " if view.known or view.left_out else ""
    for subject, group in groupby(sorted(view.new_findings, key=_heading), key=_heading):
        _print_findings(f"{new}findings of {subject[1]}", list(group), digits, rows)
    _print_known(view, digits, rows)
    _print_filtered(view)
    _print_harness_errors(view)
    _print_next(view, digits, option(workspace))


def id_digits(view: Overview) -> int:
    """How many digits of a finding's identity tell it from every other."""
    ids = [each.id for each in view.findings]
    return next((digits for digits in range(_ID, 16) if len({each[:digits] for each in ids}) == len(ids)), 16)


def _heading(finding: Finding) -> tuple[bool, str]:
    return finding.is_elsewhere, finding.heading


def _print_subjects(view: Overview) -> None:
    met = Counter(subject for each in view.findings for subject in each.met_by)
    for subject in view.subjects:
        echo(f"{subject.name}: {plural(subject.tests, 'test')}, {plural(met[subject.name], 'finding')}")
        rows = [
            [verdict.value, f"{count:,}", f"{count / subject.tests:.1%}", meaning_of(verdict, count, subject.accepted)]
            for verdict, count in subject.verdicts.items()
        ]
        print_table(["verdict", "tests", "share", "meaning"], rows)
        for reason, count in subject.accepted.items():
            echo(accepted_line(count, reason))
        echo()


def meaning_of(verdict: Verdict, count: int, accepted: Mapping[str, int]) -> str:
    """What *verdict* of *count* tests means, where *accepted* counts those that pass without results, by reason."""
    is_signature = verdict is Verdict.PASS and accepted.get(SAME_SIGNATURE) == count
    return "same signature as the library: nothing runs here" if is_signature else verdict.meaning


def accepted_line(count: int, reason: str) -> str:
    """What *count* tests that pass without a comparison say, for *reason*."""
    if reason == SAME_SIGNATURE:
        return f"of {plural(count, 'test')} that pass, only the signature was compared: number, dtypes and shapes of the outputs"
    said = {NOTHING_COMPARED: "their route compares no results", REJECTED: "the compiler rejects their ill-typed models, as it must"}
    return f"of those that pass, {plural(count, 'test')} gave no result to compare: {said.get(reason, reason)}"


def _print_findings(title: str, found: list[Finding], digits: int, limit: int | None) -> None:
    shown = found if limit is None else found[:limit]
    met = f", met through {', '.join(sorted({name for each in found for name in each.met_by}))}" if found[0].is_elsewhere else ""
    echo(f"{title}: {len(found)}{met}")
    for each in shown:
        print_finding(each, digits)
    if len(shown) < len(found):
        echo(f"… {len(found) - len(shown):,} more; --all lists them")
    echo()


def print_finding(finding: Finding, digits: int = _ID) -> None:
    """Prints a finding in two lines: what fails and when, and what was seen."""
    facts = [worded.title(finding), *([] if len(finding.tests) == 1 else [plural(len(finding.tests), "test")]), *_script(finding)]
    _print_lines(finding.id[:digits], ", ".join(facts), worded.seen(finding))


def _print_known(view: Overview, digits: int, limit: int | None) -> None:
    if view.left_out:
        echo(f"known findings: {view.left_out}, not listed")
        echo()
    if not view.known:
        return
    shown = view.known_findings[:limit]
    echo(f"known findings: {len(view.known)}")
    for each in shown:
        _print_lines(each.id[:digits], f"{each.heading}: {worded.title(each)}", f"known: {view.known[each.id]}")
    if len(shown) < len(view.known):
        echo(f"… {len(view.known) - len(shown):,} more; --all lists them")
    echo()


def _print_lines(identity: str, first: str, second: str) -> None:
    """A finding in two lines, which fit the terminal."""
    room = max(shutil.get_terminal_size((120, 24)).columns - len(identity) - 2, 40)
    echo(f"{identity}  {one_line(first, room)}")
    echo(f"{'':{len(identity)}}  {one_line(second, room)}")


def _script(finding: Finding) -> list[str]:
    """What is known of the finding's script, and of the optimiser's part."""
    lowest = finding.lowest_level
    culprit = ["vanishes at the lowest optimisation level"] if lowest is not None and lowest.vanishes else []
    if finding.reproducer is None:
        return culprit
    return [*culprit, "script verified" if finding.verified else "script shows no failure"]


def _print_filtered(view: Overview) -> None:
    filtered = view.filtered_by_reason()
    if not filtered:
        return
    echo(f"not findings: {plural(sum(count for _, count in filtered), 'test')}")
    print_table(["reason", "tests"], [[reason, f"{count:,}"] for reason, count in filtered])
    echo()


def _print_harness_errors(view: Overview) -> None:
    """Says that an adapter has to be mended: what its own code stops, tells nothing of the compiler."""
    for subject in view.subjects:
        count = sum(each.tests for each in view.filtered if each.subject == subject.name and each.reason == HARNESS_ERROR)
        if count:
            echo(f"{subject.name}: {plural(count, 'test')} ended in the adapter's own code, not in the compiler: a bug of the adapter")
            echo()


def _print_next(view: Overview, digits: int, where: str) -> None:
    found = view.new_findings
    if not found:
        echo("no new findings" if view.known or view.left_out else "no findings")
        return
    first = next((each.id[:digits] for each in found if each.has_script), None)
    if first is not None:
        echo(f"reproduce a finding:           opera reproduce {first}{where}")
    echo(f"all facts of the finding:      opera show {found[0].id[:digits]}{where}")
    echo(f"all findings as one page:      opera report --html report.html{view.scope.options}{where}")
