"""The clock of deadlines: it counts the time that this process was awake to see pass.

A laptop that sleeps, a machine that is suspended, a process group that is stopped and goes on: whatever a worker did not do meanwhile is
not its fault. Whoever has deadlines looks many times a second, so a longer step means that nobody could look.
"""

from __future__ import annotations

import threading
import time

LONGEST_STEP = 1.0
"""Seconds that count of the time between two looks, however long it was."""


class Clock:
    """Counts seconds from its making on, and of each step between two looks at most `LONGEST_STEP`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._elapsed = 0.0

    def now(self) -> float:
        """Seconds that have passed before somebody's eyes."""
        with self._lock:
            current = time.monotonic()
            self._elapsed += min(current - self._last, LONGEST_STEP)
            self._last = current
            return self._elapsed


_CLOCK = Clock()


def now() -> float:
    """The time of this process's own clock, in seconds."""
    return _CLOCK.now()
