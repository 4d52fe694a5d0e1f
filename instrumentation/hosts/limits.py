"""Limits that a generator keeps from inside: seconds of one call, and memory. What they cannot stop, the driver does."""

from __future__ import annotations

import contextlib
import importlib
import signal
from typing import Generator

LATE = 5.0
"""Seconds that one call may take."""
MEMORY = 3 << 30
"""Bytes of address space that the calls of one API may add: one that asks for more raises instead of filling the machine."""


class Late(BaseException):
    """A call that takes too long. No `Exception`, so that neither library nor recorder takes it for one of the call's own."""


@contextlib.contextmanager
def alarm(seconds: float = LATE) -> Generator[None]:
    """Ends the block with `Late` after *seconds*, unless it is in native code."""

    def ring(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def limit_memory() -> None:
    """Makes allocations of more than `MEMORY` beyond the present size fail, if the system can; a later call sets a new limit."""
    try:
        resource = importlib.import_module("resource")
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, OSError, ValueError) as error:
        print(f"no memory limit: {error}", flush=True)
