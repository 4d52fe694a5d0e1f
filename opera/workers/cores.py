"""Processor cores for workers: each working worker has its own core, as long as there are enough cores."""

from __future__ import annotations

import contextlib
import os
import random
import socket
from collections import Counter
from collections.abc import Callable

from opera.workers.processes import descendants

FAMILY = "opera-core"
"""What claims are called: names of sockets without a file, which are there as long as the process that made them, however it ends."""
HOMES: Counter[tuple[str, int]] = Counter()
"""How many living workers of this process were started on a core, by what they are."""
_MOST_SHARERS = 16
"""Claims on one core; what comes after that works anywhere."""


def usable_cores() -> int:
    """How many cores this process may use, which `taskset` or a container may have made fewer than there are."""
    return len(os.sched_getaffinity(0))


class Seat:
    """The core on which one worker works, with all that it starts.

    A worker never sees more than one core, so that whatever it holds computes in one thread, also what makes as many threads as there are
    cores.

    It is the same core each time, if possible: compilers remember where they were loaded, and OpenVINO puts its threads back there. While
    it works, the core is taken: workers of all campaigns on the machine see that, those in containers with a network of their own
    apart. It is free again when the worker is idle, or this process is gone.
    """

    def __init__(self, label: str = "") -> None:
        self._label = label
        self._home: int | None = None
        self._core: int | None = None
        self._claim: socket.socket | None = None

    def take_home(self) -> bool:
        """Takes the core that the worker was started on, if it is free; returns whether it has the core."""
        if self._claim is None and self._home is not None:
            self._claim = _named(f"{FAMILY}-{self._home}-0")
        return self._claim is not None

    def home_is_free(self) -> bool:
        """Whether no process has the first claim on the core that the worker was started on."""
        if self._claim is not None:
            return True
        free = self.take_home()
        self.leave()
        return free

    def take(self, pid: int) -> None:
        """Moves the worker *pid* to a free core, preferably the one that it was started on; otherwise to a core with few processes.

        The first time, it takes the core on which the fewest similar workers were started, even if that core is busy at the moment.
        """
        if self._home is None:
            core = self._home = self._take_first(lambda core: HOMES[self._label, core])
            HOMES[self._label, core] += 1
        elif self.take_home():
            core = self._home
        else:
            core = self._take_first(lambda _: 0)
        if core != self._core:
            self._core = core
            pin(pid, core)

    def _take_first(self, rank: Callable[[int], int]) -> int:
        """Takes a core: the lowest *rank* first, then the fewest processes, then the home core."""
        allowed = os.sched_getaffinity(0)
        ways = ((rank(core), sharers, core != self._home, core) for core in allowed for sharers in range(_MOST_SHARERS))
        for _, sharers, _, core in sorted(ways):
            self._claim = _named(f"{FAMILY}-{core}-{sharers}")
            if self._claim is not None:
                return core
        return random.choice(list(allowed))

    def leave(self) -> None:
        """The worker is idle."""
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def give_up(self) -> None:
        """The worker is gone, and does not come back."""
        self.leave()
        if self._home is not None:
            HOMES[self._label, self._home] -= 1
            self._home = None


class FreeSeat(Seat):
    """No core in particular: the worker works on all that this process may use."""

    def take_home(self) -> bool:
        """Takes nothing, and returns that this is done."""
        return True

    def home_is_free(self) -> bool:
        """Whether the worker can work, which it always can."""
        return True

    def take(self, pid: int) -> None:
        """Leaves the worker on all cores."""


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
