"""Tells known findings from new ones: those of a baseline, or those that the workspace had before the campaign began."""

from __future__ import annotations

from dataclasses import replace

from opera.console import one_line
from opera.report.overview import Overview
from opera.store import Workspace
from opera.triage.baseline import Baseline
from opera.triage.known_failures import earlier, failures_of, match


def with_known(view: Overview, baseline: Baseline | None, workspace: Workspace) -> Overview:
    """*view* with the reason of each known finding. A finding is known if all its failing tests are.

    Args:
        view: The findings of a scope.
        baseline: The known failures; None for those of the workspace when the campaigns of *view* began.
        workspace: Has the findings.
    """
    if baseline is None:
        begun = ((curve.campaign.known, f"found before campaign {curve.campaign.id} began") for curve in view.curves)
        known = [failure for each, note in begun for failure in earlier(each, note)]
    else:
        known = [replace(each, note=each.note or f"in {baseline.path.name}") for each in baseline.failures]
    found = match(known, failures_of((test for each in view.findings for test in each.tests), workspace))
    reasons = {case.test: one_line(old.note) for old, new in (*found.same, *found.changed) for case in new.cases}
    return replace(
        view,
        known={
            each.id: "; ".join(dict.fromkeys(reasons[test.test] for test in each.tests))
            for each in view.findings
            if all(test.test in reasons for test in each.tests)
        },
    )


def only_new(view: Overview) -> Overview:
    """*view* without its known findings."""
    return replace(view, findings=view.new_findings, left_out=len(view.known), known={})
