"""The clock of deadlines: counts the time during which this process was awake.

If a laptop sleeps, a machine is suspended, or a process group is stopped, a worker cannot work in this time, which is
not its fault. The driver checks deadlines many times a second, so a longer step means that the driver could not check.
"""

from __future__ import annotations

import threading
import time

LONGEST_STEP = 1.0
"""Largest number of seconds that count between two readings."""


class Clock:
    """Counts seconds from its creation, and at most `LONGEST_STEP` between two readings."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._elapsed = 0.0

    def now(self) -> float:
        """Seconds during which this process was awake."""
        with self._lock:
            current = time.monotonic()
            self._elapsed += min(current - self._last, LONGEST_STEP)
            self._last = current
            return self._elapsed


_CLOCK = Clock()


def now() -> float:
    """The time of this process's own clock, in seconds."""
    return _CLOCK.now()
