"""Processor cores for workers: one each while they work, and not the same one for two of them as long as there are others."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import socket

from opera.worker.processes import descendants

FAMILY = "opera-core"
"""What claims are called: names of sockets without a file, which are there as long as the process that made them, however it ends."""
_MOST_SHARERS = 16
"""Claims on one core; what comes after that works anywhere."""


class Seat:
    """The core on which one worker works, with all that it starts.

    A worker never sees more than one core, so that whatever it holds computes in one thread, also what makes as many threads as there are
    cores.

    While it works, the core is taken: workers of all campaigns on the machine see that, those in containers with a network of their own
    apart. It is free again when the worker is idle, or this process is gone.
    """

    def __init__(self) -> None:
        self._core: int | None = None
        self._claim: socket.socket | None = None

    def take_again(self) -> bool:
        """Takes the core that the worker was on last, if nobody has taken it; says whether it has it."""
        if self._claim is None and self._core is not None:
            self._claim = _named(f"{FAMILY}-{self._core}-0")
        return self._claim is not None

    def take(self, pid: int) -> None:
        """Puts the worker *pid* on a core that nobody has taken, rather on the one that it was on; else on one that few have taken."""
        if self.take_again():
            return
        before = self._core
        allowed = sorted(sorted(os.sched_getaffinity(0)), key=lambda core: core != before)
        for sharers, core in itertools.product(range(_MOST_SHARERS), allowed):
            self._claim = _named(f"{FAMILY}-{core}-{sharers}")
            if self._claim is not None:
                break
        else:
            core = random.choice(allowed)
        if core != before:
            self._core = core
            pin(pid, core)

    def leave(self) -> None:
        """The worker is idle, or gone."""
        if self._claim is not None:
            self._claim.close()
            self._claim = None


def _named(name: str) -> socket.socket | None:
    """A socket of that name, which one process of a machine can have; None where another one has it."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0{name}")
    except OSError:
        claim.close()
        return None
    return claim


def pin(pid: int, core: int) -> None:
    """Binds every thread of *pid* and of all its descendants to *core*; what they start from now on inherits it."""
    for each in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):
                with contextlib.suppress(OSError):
                    os.sched_setaffinity(int(thread), {core})
