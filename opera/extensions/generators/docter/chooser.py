"""Random choices that learn: options that led to calls which returned are taken more often."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Optional

REWARD, PENALTY = 1.5, 0.93
LEAST, MOST = 0.03, 40.0

Trace = dict[str, Any]
"""What was chosen in one drawing, by the name of the choice."""


class Chooser:
    """Draws options by weight; a trace of earlier choices can be pinned, so that a drawing repeats but for what was left out of it."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self._factors: dict[tuple[str, str], float] = {}
        self._trace: Trace = {}
        self._pinned: Trace = {}

    def begin(self, pinned: Optional[Trace] = None) -> None:
        """Starts a drawing, in which slots of *pinned* keep their value."""
        self._trace = {}
        self._pinned = pinned or {}

    def choose(self, slot: str, options: Sequence[tuple[Any, float]]) -> Any:
        """One of *options*, each with its weight; the same for the same *slot* within a drawing."""
        if slot in self._trace:
            return self._trace[slot]
        values = [value for value, _ in options]
        if slot in self._pinned and self._pinned[slot] in values:
            chosen = self._pinned[slot]
        else:
            weights = [weight * self._factors.get((slot, repr(value)), 1.0) for value, weight in options]
            chosen = self.generator.choices(values, weights)[0]
        self._trace[slot] = chosen
        return chosen

    def learn(self, returned: bool) -> None:
        """Says how the call of the last drawing ended."""
        for slot, value in self._trace.items():
            self.boost(slot, value, REWARD if returned else PENALTY)

    def boost(self, slot: str, value: Any, factor: float) -> None:
        """Makes *value* more or less likely for *slot*."""
        key = (slot, repr(value))
        self._factors[key] = min(MOST, max(LEAST, self._factors.get(key, 1.0) * factor))

    def trace(self) -> Trace:
        """The choices of the last drawing."""
        return dict(self._trace)

    def varied(self, trace: Trace) -> Trace:
        """*trace* without one or two of its choices."""
        names = list(trace)
        left_out = self.generator.sample(names, min(len(names), self.generator.choice((1, 1, 2))))
        return {name: value for name, value in trace.items() if name not in left_out}
