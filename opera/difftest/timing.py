"""Measures the latency of calls, once the first calls have warmed up."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

WARM_UP = 3
"""Calls before the first that counts, at least; and at least `WARM_SECONDS` of them."""
WARM_SECONDS = 0.02
WINDOW = 0.1
"""Seconds during which calls are timed, at least: other work on the machine disturbs all of a shorter time alike."""
MOST_CALLS = 20_000


def timed(call: Callable[[], object], repeats: int) -> list[float]:
    """Seconds of each call: *repeats* calls, and more while they take less than `WINDOW`, after calls that warm up.

    The garbage collector rests meanwhile.
    """
    began = time.perf_counter()
    done = 0
    while done < WARM_UP or (time.perf_counter() - began < WARM_SECONDS and done < 1000):
        call()
        done += 1
    collected = gc.isenabled()
    gc.disable()
    try:
        found: list[float] = []
        began = time.perf_counter()
        while len(found) < repeats or (time.perf_counter() - began < WINDOW and len(found) < MOST_CALLS):
            start = time.perf_counter()
            call()
            found.append(time.perf_counter() - start)
        return found
    finally:
        if collected:
            gc.enable()
