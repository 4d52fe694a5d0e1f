"""Tells known findings from new ones: those of a baseline, or those that the workspace had before the campaign began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opera.console import one_line
from opera.report.overview import Overview
from opera.triage.baseline import Baseline
from opera.triage.known_failures import failures_of, match


def with_known(view: Overview, baseline: Baseline | None) -> Overview:
    """*view* with the reason of each known finding. A finding is known if all its fingerprints are.

    Args:
        view: The findings of a scope.
        baseline: The known failures; None for those of the workspace when the campaigns of *view* began.
    """
    reasons = _of_campaigns(view) if baseline is None else _of_baseline(view, baseline)
    known = {
        each.id: "; ".join(dict.fromkeys(reasons[fingerprint] for fingerprint in each.fingerprints))
        for each in view.findings
        if all(fingerprint in reasons for fingerprint in each.fingerprints)
    }
    return replace(view, known=known)


def only_new(view: Overview) -> Overview:
    """*view* without its known findings."""
    return replace(view, findings=view.new_findings, left_out=len(view.known), known={})


def _of_campaigns(view: Overview) -> Mapping[str, str]:
    return {each: f"found before campaign {curve.campaign.id} began" for curve in view.curves for each in curve.campaign.known}


def _of_baseline(view: Overview, baseline: Baseline) -> Mapping[str, str]:
    """Why failures are known, by fingerprint: the note of the table in the file, else the name of the file."""
    found = match(baseline.failures, failures_of(test for each in view.findings for test in each.tests))
    return {new.fingerprint: one_line(old.note) or f"in {baseline.path.name}" for old, new in (*found.same, *found.changed)}
