"""Ends the processes that a driver left behind, after the driver ended in any way.

It runs as a script, `python -I -S guardian.py PID MARK`, with a pipe as standard input. Only the driver holds the other end, so the pipe
ends with the driver. The driver writes folders into it, each followed by a zero byte; the guardian removes them at the end.

Workers end with their driver by themselves, but processes that a compiler or a test started may not. The guardian finds every process whose
environment has the mark. It finds a process with an environment of its own if it saw it below the driver, where it looks once a second.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable

_SWEEPS = 100
_LOOK_SECONDS = 1.0


def strike(pid: int, is_it: Callable[[int], bool]) -> bool:
    """Kills the process *pid* if *is_it* accepts it; returns whether it did. The number cannot pass to another process in between."""
    try:
        handle = os.pidfd_open(pid)
    except OSError:  # it is gone
        return False
    try:
        if not is_it(pid):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def marked(pid: int, mark: bytes) -> bool:
    """Whether *pid* has *mark* in its environment."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def sweep(mark: bytes) -> None:
    """Kills what carries *mark* in its environment until there is no more."""
    for _ in range(_SWEEPS):
        if not [pid for pid in os.listdir("/proc") if pid.isdigit() and strike(int(pid), lambda each: marked(each, mark))]:
            return
        time.sleep(0.01)


def stat(pid: int) -> tuple[int, int, int] | None:
    """Parent, session and time of birth of *pid*; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[3]), int(fields[19])
    except (OSError, IndexError, ValueError):
        return None


def children(pid: int) -> list[int]:
    """The children of all threads of *pid*."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
            found += [int(child) for child in file.read().split()]
    return found


def strangers(driver: int, kept: set[int]) -> dict[int, int]:
    """What lives below *driver* in sessions other than its own, *kept* and what is below that apart: number and time of birth."""
    own = stat(driver)
    found: dict[int, int] = {}
    pending = [driver]
    while pending and own is not None:
        for child in children(pending.pop()):
            known = None if child in kept or child == os.getpid() else stat(child)
            if known is not None:
                pending.append(child)
                if known[1] != own[1]:
                    found[child] = known[2]
    return found


def _watch(driver: int) -> tuple[dict[int, int], list[str]]:
    """Waits for the end of *driver*; returns what it has seen below it last, and the folders that it was told of."""
    kept = set(children(driver))
    seen: dict[int, int] = {}
    told = b""
    while True:
        if select.select([0], [], [], _LOOK_SECONDS)[0]:
            data = os.read(0, 65536)
            if not data:
                return seen, [os.fsdecode(each) for each in told.split(b"\0") if each]
            told += data
        else:
            seen = strangers(driver, kept) or seen


def _main(driver: int, mark: bytes) -> None:
    seen, folders = _watch(driver)
    sweep(mark)
    for pid, born in seen.items():
        strike(pid, lambda each, born=born: (stat(each) or (0, 0, 0))[2] == born)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _main(int(sys.argv[1]), os.fsencode(sys.argv[2]))
