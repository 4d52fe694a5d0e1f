"""Becomes another program that dies with its driver: `python -I -S launch.py DRIVER COMMAND...`, where DRIVER is the parent's number."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):  # it has died before we asked
        sys.exit(1)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and for itself only
        signal.signal(ignored, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
