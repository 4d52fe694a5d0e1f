"""What a raw failure says, normalised, as a short hash. It guides grouping, and never changes afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from opera.oracles.frames import top_frames
from opera.oracles.normalise import Noise, template
from opera.oracles.verdict import Stage, Verdict

VERSION = 2
ELEMENTS = ("nan", "inf", "values")
"""Kinds of difference that are about elements, where count, structure, shape and dtype agree."""


@dataclass(frozen=True)
class Symptom:
    """The parts of a fingerprint.

    Attributes:
        subject: `compiler/frontend`, or the exporter that failed.
        verdict: What the oracles said.
        stage: Where it stopped.
        kind: Exception type, signal, or kind of difference.
        converter: The conversion function.
        message: The normalised message.
        frames: Where it was raised, as `opera.oracles.frames.top_frames` gives it; of a crash only.
    """

    subject: str
    verdict: Verdict
    stage: Stage | None
    kind: str
    converter: str
    message: str
    frames: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits."""
        parts = [
            VERSION, self.subject, self.verdict.value, self.stage.value if self.stage else None, self.kind, self.converter, self.message,
            self.frames,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @property
    def equivalent_fingerprints(self) -> frozenset[str]:
        """The fingerprints in which this failure may show another time: a result read from memory that nobody wrote is never the same."""
        if self.verdict is Verdict.INCONSISTENT and self.kind in ELEMENTS:
            return frozenset(replace(self, kind=kind).fingerprint for kind in ELEMENTS)
        return frozenset((self.fingerprint,))


def symptom_of(subject: str, verdict: Verdict, stage: Stage | None, converter: str, detail: Mapping[str, Any], noise: Noise) -> Symptom:
    """What a failing test shows; *noise* is that of the compiler that it ran on."""
    if verdict is Verdict.INCONSISTENT:
        difference = detail["difference"]
        kind = str(difference["kind"])
        message = f"{difference['expected']} -> {difference['actual']}" if kind in ("dtype", "structure") else ""
        return Symptom(subject, verdict, stage, kind, converter, message)
    if verdict is Verdict.CRASH:
        failure = detail["failure"]
        message = template(str(failure["message"]), noise)
        return Symptom(subject, verdict, stage, str(failure["type"]), converter, message, top_frames(failure))
    lost = detail.get("lost", {})
    kind = str(lost.get("detail", "")) if verdict is Verdict.ABORT else str(lost.get("cause", ""))
    return Symptom(subject, verdict, stage, kind, converter, "")
