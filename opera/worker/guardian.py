"""Ends every process that the workers of a driver have left behind, once that driver is gone, however it went.

Run as a script of its own, `python -I -S guardian.py OPERA_DRIVER=PID`, with a pipe as standard input of which only the driver holds
the other end: workers die with their driver by themselves, what a compiler has started may not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

_SWEEPS = 100


def _marked(pid: str, mark: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def main(mark: bytes) -> None:
    """Waits for the end of standard input, then kills what carries *mark* in its environment until there is no more."""
    sys.stdin.buffer.read()
    for _ in range(_SWEEPS):
        found = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _marked(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


if __name__ == "__main__":
    main(os.fsencode(sys.argv[1]))
