"""Orders of other tools, and the figures of an evaluation as a table and a picture."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import cast

from opera.bounded_json import parsed_json
from opera.console import one_line, plural
from opera.errors import UserError
from opera.extensions.research.metrics import QUARTERS, Detection, apfd, apfdc, detect, rauc
from opera.extensions.research.recording import RecordedRun
from opera.untrusted import lines_of

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT = 720, 400, 50, 15, 200
_COLOURS = ("#1565c0", "#c62828", "#2e7d32", "#6a1b9a", "#ef6c00", "#00838f", "#5d4037", "#ad1457", "#455a64", "#9e9d24", "#283593")


def read_ranking(path: Path, recorded: RecordedRun) -> Detection:
    """Where the order in *path* reveals the findings of *recorded*.

    The file is that of `opera export ranking`, or has the id of an instance on each line. Instances that the campaign did not run do not
    count.

    Raises:
        UserError: there is no such file, it names an instance twice, or leaves some out.
    """
    tests = {test.id for test in recorded.tests}
    try:
        named = [_instance(line.decode("utf-8", "replace").strip()) for _, line in lines_of(path)]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as a ranking ({one_line(str(error))}); `opera export ranking` writes one") from error
    order = [each for each in named if each in tests]
    missing = len(tests) - len(set(order))
    if missing or len(order) != len(set(order)):
        what = f"leaves out {plural(missing, 'instance')} of {len(tests):,}" if missing else "names an instance twice"
        raise UserError(f"{path} {what} that the campaign of {recorded.subject} ran; write each of them once, one id a line")
    return detect(order, recorded.failing, {test.id: test.seconds for test in recorded.tests})


def _instance(line: str) -> str:
    if not line.startswith("{"):
        return line
    row = parsed_json(line.encode())
    return str(cast("dict[str, object]", row).get("instance", ""))


def as_csv(found: Mapping[str, Sequence[Detection]], *, timed: bool) -> str:
    """A row for each strategy and seed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["strategy", "seed", "apfd", "apfdc", *(f"rauc_{percent}" for percent in QUARTERS)])
    for name, orders in found.items():
        for seed, each in enumerate(orders):
            shares = [apfd(each.positions, each.tests), *([apfdc(each)] if timed else [])]
            areas = [rauc(each.positions, each.tests, percent) for percent in QUARTERS]
            cells = [f"{value:.6f}" for value in (*shares, *areas)]
            writer.writerow([name, seed, cells[0], cells[1] if timed else "", *cells[-len(areas) :]])
    return text.getvalue()


def as_svg(found: Mapping[str, Sequence[Detection]], title: str) -> str:
    """The share of the findings that a share of the tests reveals: a curve for each strategy, the mean of its seeds."""
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - 2 * _TOP - 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>',
        f'<path d="M{_LEFT} {_TOP}v{high}h{wide}" fill="none" stroke="#666"/>',
        f'<text x="{_LEFT + wide / 2}" y="{_HEIGHT - 8}" text-anchor="middle">share of the tests ({escape(title)})</text>',
        *(f'<text x="{_LEFT + wide * part / 4}" y="{_TOP + high + 16}" text-anchor="middle">{25 * part} %</text>' for part in range(5)),
        *(f'<text x="{_LEFT - 6}" y="{_TOP + high * (1 - part / 4) + 4}" text-anchor="end">{25 * part} %</text>' for part in range(5)),
    ]
    for number, (name, orders) in enumerate(found.items()):
        means = [sum(each.positions[index] for each in orders) / len(orders) for index in range(len(orders[0].positions))]
        points = " ".join(
            f"{_LEFT + wide * mean / orders[0].tests:.1f},{_TOP + high * (1 - (index + 1) / len(means)):.1f}"
            for index, mean in enumerate(means)
        )
        colour, y = _COLOURS[number % len(_COLOURS)], _TOP + 12 + 18 * number
        parts += [
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{_LEFT},{_TOP + high} {points}"/>',
            f'<path d="M{_LEFT + wide + 14} {y - 4}h18" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{_LEFT + wide + 38}" y="{y}">{escape(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
