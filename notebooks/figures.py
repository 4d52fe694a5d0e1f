"""What the notebooks draw with: one look for all figures, one colour for each strategy."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from opera import Detection, Figures, RecordedRun, read_recorded

SEEDS = int(os.environ.get("OPERA_NOTEBOOK_SEEDS", "3"))
"""Orders of each strategy; figures to be published want 30."""
TITLES = {
    "tvm-onnx": "TVM x ONNX", "openvino-onnx": "OpenVINO x ONNX", "onnxruntime-onnx": "ONNX Runtime x ONNX",
    "iree-onnx": "IREE x ONNX",
    "tvm-pytorch": "TVM x PyTorch", "openvino-pytorch": "OpenVINO x PyTorch", "onnxruntime-pytorch": "ONNX Runtime x PyTorch",
}  # fmt: skip
"""The recorded campaigns, one frontend after the other."""
COLOURS = {
    "opera": "#c1272d", "opera-adaptive": "#e8853a", "opera-artifact": "#0b559f", "opera-paper": "#6aaed6",
    "parameter-only": "#8c6bb1", "operator-only": "#c9a5d8", "additional": "#1b7837", "total": "#7fbf7b",
    "fast": "#8c6d31", "round-robin": "#666666", "random": "#b3b3b3",
}  # fmt: skip
NAMES = {"our": "OPERA", "random": "random", "fast": "FAST", "cov": "total", "delta_cov": "additional"}
"""The strategies of the published ranks, as the paper calls them."""


def style() -> None:
    """Sets the look of every figure that follows."""
    mpl.rcParams.update(
        {
            "figure.dpi": 110, "savefig.dpi": 200, "figure.constrained_layout.use": True, "font.size": 9, "axes.titlesize": 9.5,
            "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25, "grid.linewidth": 0.6,
            "legend.frameon": False, "lines.linewidth": 1.6, "pdf.fonttype": 42,
        }
    )  # fmt: skip


def recorded_campaigns(*names: str) -> dict[str, RecordedRun]:
    """The campaigns of `data/campaigns` by their titles; *names* are those of the files, all where none is given."""
    folder = Path(__file__).parents[1] / "data" / "campaigns"
    there = {path.name.partition(".")[0] for path in folder.glob("*.jsonl.gz")}
    return {
        TITLES.get(name, name): read_recorded(folder / f"{name}.jsonl.gz") for name in names or [*TITLES, *sorted(there - TITLES.keys())]
    }


def trend(axes: Axes, found: Mapping[str, Sequence[Detection]], title: str, *, seconds: bool = False) -> None:
    """Mean share of findings by share of tests, or of seconds, run; all strategies in one picture."""
    grid = np.linspace(0, 1, 201)
    for name, detections in found.items():
        curves: list[np.ndarray] = []
        for each in detections:
            at = [until / each.total for until, _ in each.costs] if seconds else [place / each.tests for place in each.positions]
            curves.append(np.searchsorted(np.array(at), grid, side="right") / len(at))
        front = name.startswith("opera") and name != "opera-paper"
        axes.plot(100 * grid, 100 * np.mean(curves, axis=0), color=COLOURS[name], label=name, zorder=3 if front else 2)
    axes.set(title=title, xlim=(0, 100), ylim=(0, 100), xlabel=f"{'time' if seconds else 'tests'} (%)", ylabel="findings (%)")


def dots(axes: Axes, found: Mapping[str, Figures], title: str) -> None:
    """APFD of each strategy, best at the top: every mean with its 95 % interval over seeds."""
    names = sorted(found, key=lambda name: found[name].apfd.mean)
    for row, name in enumerate(names):
        spread = found[name].apfd
        axes.plot([spread.low, spread.high], [row, row], color=COLOURS[name], linewidth=3.5, solid_capstyle="round", alpha=0.45)
        axes.plot(spread.mean, row, "o", color=COLOURS[name], markersize=5)
        axes.annotate(f"{spread.mean:.3f}", (spread.high, row), (6, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set(title=title, yticks=range(len(names)), yticklabels=names, xlabel="APFD")
    axes.margins(x=0.14, y=0.08)


def legend_below(figure: plt.Figure, axes: Axes, columns: int = 6) -> None:
    """One legend for all axes of a figure."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
