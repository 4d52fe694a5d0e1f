"""Ends every process that the workers of a driver have left behind, once that driver is gone, however it went.

Run as a script of its own, `python -I -S guardian.py OPERA_DRIVER=PID [FOLDER]`, with a pipe as standard input of which only the
driver holds the other end: workers die with their driver by themselves, what a compiler has started may not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
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


def sweep(mark: bytes) -> None:
    """Kills what carries *mark* in its environment until there is no more."""
    for _ in range(_SWEEPS):
        found = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and _marked(pid, mark)]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    sweep(os.fsencode(sys.argv[1]))
    for home in sys.argv[2:]:
        shutil.rmtree(home, ignore_errors=True)
