"""The layout of the figures of the HTML report; the template draws them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opera.oracles.verdict import Verdict
from opera.report.overview import Curve, Overview, SubjectCounts

_WIDTH, _HEIGHT = 860, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 190, 12, 34
_CURVES = 8
_POINTS = 300
_LABEL_HEIGHT = 15


@dataclass(frozen=True)
class Segment:
    """A part of a stacked bar; *percent* of its width."""

    verdict: Verdict
    tests: int
    percent: float


@dataclass(frozen=True)
class Bar:
    """The verdicts of one subject."""

    subject: SubjectCounts
    findings: int
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Tick:
    """A place on an axis, in units of the drawing, and the number that stands there."""

    at: float
    label: str


@dataclass(frozen=True)
class Line:
    """A curve: its points as SVG wants them, where it ends, and how high its label stands; *number* picks its colour."""

    label: str
    points: str
    end_x: float
    end_y: float
    label_y: float
    number: int


@dataclass(frozen=True)
class Trend:
    """Distinct findings over tests done, one line per campaign. Lengths are in units of the drawing."""

    width: int
    height: int
    left: int
    right: int
    bottom: int
    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    left_out: int


def bars(view: Overview) -> list[Bar]:
    """One bar per subject, findings of exporters counted where they were met."""
    met = Counter(subject for each in view.findings for subject in each.met_by)
    return [
        Bar(
            subject,
            met[subject.name],
            tuple(Segment(verdict, count, round(100 * count / subject.tests, 3)) for verdict, count in subject.verdicts.items()),
        )
        for subject in view.subjects
    ]


def trend(view: Overview) -> Trend | None:
    """The curves of the campaigns with the most findings; None without a finding."""
    drawn = sorted((curve for curve in view.curves if curve.findings), key=lambda curve: (-curve.findings, curve.campaign.id))
    kept = drawn[:_CURVES]
    if not kept:
        return None
    most_tests, most_found = max(curve.tests for curve in kept), _ceiling(max(curve.findings for curve in kept))
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x(tests: float) -> float:
        return round(_LEFT + (right - _LEFT) * tests / most_tests, 1)

    def y(found: float) -> float:
        return round(bottom - (bottom - _TOP) * found / most_found, 1)

    ends = _apart([y(curve.findings) for curve in kept], bottom)
    lines = tuple(
        Line(
            label=_label(curve, kept),
            points=" ".join(f"{x(tests)},{y(found)}" for tests, found in _staircase(curve)),
            end_x=x(curve.tests),
            end_y=y(curve.findings),
            label_y=ends[index],
            number=index,
        )
        for index, curve in enumerate(kept)
    )
    across = tuple(Tick(x(value), f"{value:,}") for value in _ticks(most_tests))
    up = tuple(Tick(y(value), f"{value:,}") for value in _ticks(most_found))
    return Trend(_WIDTH, _HEIGHT, _LEFT, right, bottom, lines, across, up, len(drawn) - len(kept))


def _label(curve: Curve, among: Sequence[Curve]) -> str:
    alone = sum(each.subject == curve.subject for each in among) == 1
    return f"{curve.subject}{'' if alone else ' ' + curve.campaign.id[:6]} · {curve.findings:,}"


def _staircase(curve: Curve) -> list[tuple[int, int]]:
    """The corners of a curve, thinned to as many as can be seen."""
    every = max(1, math.ceil(len(curve.steps) / _POINTS))
    steps = [*curve.steps[::every], *curve.steps[-1:]] if every > 1 else list(curve.steps)
    corners, found = [(0, 0)], 0
    for tests, now in steps:
        corners += [(tests, found), (tests, now)]
        found = now
    return [*corners, (curve.tests, found)]


def _ceiling(value: int) -> int:
    """The next number that divides into round ticks."""
    step = _step(value)
    return max(step, math.ceil(value / step) * step)


def _step(value: int) -> int:
    size = 10 ** max(0, math.floor(math.log10(max(value, 1))))
    return next(max(1, int(size * part)) for part in (0.2, 0.5, 1, 2) if size * part * 6 >= value)


def _ticks(highest: int) -> list[int]:
    return list(range(0, highest + 1, _step(highest)))


def _apart(places: Sequence[float], lowest: float) -> list[float]:
    """*places* moved up so that labels at them do not overlap."""
    moved = list(places)
    limit = lowest
    for index in sorted(range(len(places)), key=lambda index: -places[index]):
        moved[index] = min(places[index], limit)
        limit = moved[index] - _LABEL_HEIGHT
    return moved
