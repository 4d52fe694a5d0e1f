"""What the notebooks draw and print with: one look for each strategy, also without colour, and tables that keep the value of each seed."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator
from matplotlib_inline.backend_inline import set_matplotlib_formats

from opera.extensions.research.api import Detection, Figures, RecordedRun, read_recorded

SEEDS = int(os.environ.get("OPERA_NOTEBOOK_SEEDS", "10"))
"""Orders of each strategy."""
CAMPAIGNS = os.environ.get("OPERA_NOTEBOOK_CAMPAIGNS", "").split()
"""The recorded campaigns that the notebooks evaluate, by the names of their files; without a name, those of `TITLES`."""
WIDTH = 7.16
"""Inches of a figure: the width of a page with two columns."""
TABLE = "application/vnd.opera.table+json"
"""The form in which a notebook keeps the values of a table."""
TITLES = {
    "tvm-onnx": "TVM x ONNX",
    "openvino-onnx": "OpenVINO x ONNX",
    "onnxruntime-onnx": "ONNX Runtime x ONNX",
    "iree-onnx": "IREE x ONNX",
    "tvm-pytorch": "TVM x PyTorch",
    "openvino-pytorch": "OpenVINO x PyTorch",
    "onnxruntime-pytorch": "ONNX Runtime x PyTorch",
}
"""The recorded campaigns that are evaluated, one frontend after the other. The others ran two instances of each
operator, without a GPU, or with another provider of ONNX Runtime."""


LINEAR = tuple(title for title in TITLES.values() if title.endswith("PyTorch"))
"""Campaigns whose findings do not come in the first fifth of the tests: the axis of the tests is linear."""


class Look(NamedTuple):
    """How a strategy is drawn: no two have the same line and marker, so that a copy without colour can be read."""

    color: str
    linestyle: str | tuple[int, tuple[float, ...]]
    marker: str


DASHED, DOTTED, LONG, MIXED = (0, (4, 1.5)), (0, (1, 1.2)), (0, (8, 2)), (0, (5, 1.5, 1, 1.5))
LOOKS = {
    "opera": Look("#c1272d", "solid", "o"),
    "opera-adaptive": Look("#d55e00", DASHED, "s"),
    "opera-artifact": Look("#0b559f", "solid", "^"),
    "opera-paper": Look("#56b4e9", DASHED, "v"),
    "parameter-only": Look("#6a3d9a", DOTTED, "D"),
    "operator-only": Look("#a07cc5", MIXED, "d"),
    "additional": Look("#00734d", "solid", "P"),
    "total": Look("#5aae61", DASHED, "X"),
    "fast": Look("#8c6d31", MIXED, "*"),
    "round-robin": Look("#444444", LONG, "<"),
    "random": Look("#888888", DOTTED, ">"),
}
"""How each strategy is drawn, in every figure."""


def style() -> None:
    """Sets the look of every figure that follows: vectors, at the size of a printed page."""
    set_matplotlib_formats("svg", metadata={"Date": None})
    mpl.rcParams.update(
        {
            "axes.grid": True,
            "axes.labelsize": 7.5,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.titlesize": 8,
            "figure.constrained_layout.use": True,
            "font.size": 7.5,
            "grid.alpha": 0.25,
            "grid.linewidth": 0.5,
            "hatch.linewidth": 0.5,
            "legend.fontsize": 7.5,
            "legend.frameon": False,
            "legend.handlelength": 3.2,
            "lines.linewidth": 1.1,
            "lines.markersize": 3.4,
            "svg.hashsalt": "opera",
            "xtick.labelsize": 7,
            "ytick.labelsize": 7,
        }
    )


@dataclass(frozen=True)
class Table:
    """A table whose cells are means. A notebook keeps the text, and the values of which each cell is the mean.

    Attributes:
        title: What a cell is.
        rows: By row and column, one value for each seed.
        notes: What is added to a row.
        digits: After the point.
        mean: Whether a last column has the mean of the row.
        measured: Whether the values are times of this machine, which no other run gives again.
    """

    title: str
    rows: Mapping[str, Mapping[str, Sequence[float]]]
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    digits: int = 3
    mean: bool = False
    measured: bool = False

    def __repr__(self) -> str:
        columns = list(dict.fromkeys(column for row in self.rows.values() for column in row))
        means = {name: {column: statistics.fmean(values) for column, values in row.items()} for name, row in self.rows.items()}
        if self.mean:
            columns.append("mean")
            means = {name: {**row, "mean": statistics.fmean(row.values())} for name, row in means.items()}
        texts = [[f"{row[column]:,.{self.digits}f}" if column in row else "" for column in columns] for row in means.values()]
        cells = [columns, *texts]
        widths = [max(map(len, column)) + 2 for column in zip(*cells, strict=True)]
        names = [self.title, *means]
        first = max(map(len, names))
        lines: list[str] = []
        for name, row in zip(names, cells, strict=True):
            shown = "".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
            lines.append(f"{name.ljust(first)}{shown}  {self.notes.get(name, '')}".rstrip())
        return "\n".join(lines)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        rows = {name: {column: [round(each, 6) for each in values] for column, values in row.items()} for name, row in self.rows.items()}
        return {"text/plain": repr(self), TABLE: {**asdict(self), "rows": rows}}


def recorded_campaigns() -> dict[str, RecordedRun]:
    """The campaigns of `data/campaigns` by their titles."""
    folder = Path(__file__).parents[1] / "data" / "campaigns"
    return {title: read_recorded(folder / f"{name}.jsonl.gz") for name, title in TITLES.items() if not CAMPAIGNS or name in CAMPAIGNS}


def grid(count: int, columns: int, height: float, **options: Any) -> tuple[plt.Figure, list[Axes]]:
    """A figure with *count* axes, each *height* inches high."""
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, height * rows), squeeze=False, **options)
    for empty in axes.flat[count:]:
        empty.set_visible(False)
    return figure, list(axes.flat[:count])


def trend(axes: Axes, found: Mapping[str, Sequence[Detection]], title: str, *, seconds: bool = False) -> None:
    """Mean share of findings by share of tests, or of seconds, run; a band holds the middle 80 % of the seeds."""
    least = None if title.startswith(LINEAR) else 0.1
    points = np.linspace(0, 100, 91) if least is None else np.logspace(np.log10(least), 2, 91)
    for number, (name, detections) in enumerate(found.items()):
        curves: list[np.ndarray] = []
        for each in detections:
            at = [until / each.total for until, _ in each.costs] if seconds else [place / each.tests for place in each.positions]
            curves.append(np.searchsorted(100 * np.array(at), points, side="right") / len(at))
        front = 3 if name in ("opera", "opera-adaptive") else 2
        every = (3 * number % 17, 17)
        low, high = 100 * np.quantile(curves, [0.1, 0.9], axis=0)
        axes.fill_between(points, low, high, color=LOOKS[name].color, alpha=0.13, linewidth=0, zorder=1)
        axes.plot(points, 100 * np.mean(curves, axis=0), label=name, zorder=front, markevery=every, **LOOKS[name]._asdict())
    what = "time (% of the campaign)" if seconds else "tests run (% of the campaign)"
    share_axes(axes, title, what, "findings revealed (%)", least)


def share_axes(axes: Axes, title: str, x: str, y: str, least: float | None) -> None:
    """Titles, and per cent on both axes: that of the tests logarithmic from *least* on, or linear without it."""
    place = axes.get_subplotspec()
    first = place is None or place.is_first_col()
    axes.set(title=title, xlabel=x, ylabel=y if first else "", xlim=(0, 100), ylim=(0, 102))
    if least is not None:
        ticks = [each for each in (0.01, 0.1, 1, 10, 100) if each >= least]
        axes.set(xscale="log", xlim=(least, 100))
        axes.set_xticks(ticks, [f"{each:g}" for each in ticks])
        axes.xaxis.set_minor_locator(LogLocator(subs=range(2, 10)))


def dots(axes: Axes, found: Mapping[str, Figures], title: str) -> None:
    """APFD of each strategy, best at the top: every mean with its 95 % interval over seeds."""
    names = sorted(found, key=lambda name: found[name].apfd.mean)
    for row, name in enumerate(names):
        spread, look = found[name].apfd, LOOKS[name]
        axes.plot([spread.low, spread.high], [row, row], color=look.color, linewidth=2.5, solid_capstyle="round", alpha=0.45)
        axes.plot(spread.mean, row, look.marker, color=look.color)
        axes.annotate(f"{spread.mean:.3f}", (spread.high, row), (5, 0), textcoords="offset points", va="center", fontsize=6.5)
    axes.set(title=title, yticks=range(len(names)), yticklabels=names, xlabel="APFD (1 is best)", xlim=(0, 1.12))
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.margins(y=0.08)


def legend_below(figure: plt.Figure, axes: Axes, columns: int = 6) -> None:
    """One legend for all axes of a figure."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)
