"""Times warm calls."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

WARM_UP = 3
"""Calls before the first that counts, at least; and at least `WARM_SECONDS` of them."""
WARM_SECONDS = 0.02


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each of *repeats* calls, after calls that warm up; the garbage collector rests meanwhile."""
    began = time.perf_counter()
    done = 0
    while done < WARM_UP or (time.perf_counter() - began < WARM_SECONDS and done < 1000):
        call()
        done += 1
    collected = gc.isenabled()
    gc.disable()
    try:
        found: list[float] = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
        return found
    finally:
        if collected:
            gc.enable()
