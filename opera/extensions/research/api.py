"""The public names of the evaluation of strategies, which the notebooks use."""

from __future__ import annotations

from opera.extensions.research.artifact import read_artifact
from opera.extensions.research.compare import Figures, available, detections, evaluate, figures, spread
from opera.extensions.research.metrics import Detection, apfd, detect, rauc
from opera.extensions.research.recording import RecordedRun, read_recorded

__all__ = [
    "Detection",
    "Figures",
    "RecordedRun",
    "apfd",
    "available",
    "detect",
    "detections",
    "evaluate",
    "figures",
    "rauc",
    "read_artifact",
    "read_recorded",
    "spread",
]
