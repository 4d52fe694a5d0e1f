"""Runs a host again and again in copies of one process, which has imported the library once.

The driver says on a socket what to run, one JSON document a line. Each copy belongs to the driver: it has a session, a working folder and
an output file of its own, and dies with the driver. Threads do not survive a copy, so a process that has some says so, and ends.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import socket
import sys
import tempfile
from typing import Any, Callable, Dict, Sequence

_PR_SET_PDEATHSIG = 1


def serve(descriptor: int, run: Callable[[Sequence[str]], None]) -> None:
    """Answers the driver on the socket *descriptor* until it closes it; *run* is called in copies."""
    driver = os.getppid()
    with socket.socket(fileno=descriptor) as channel:
        ready = len(os.listdir("/proc/self/task")) == 1
        channel.sendall(b"ready\n" if ready else b"threads\n")
        gc.collect()
        gc.freeze()  # a copy shares what it does not look at
        for line in channel.makefile("r", encoding="utf-8") if ready else ():
            between = os.fork()
            if not between:
                if os.fork():
                    os._exit(0)
                task = json.loads(line)
                _become(task, driver)
                channel.sendall(b"%d\n" % os.getpid())
                channel.close()
                _end(run, task["arguments"])
            os.waitpid(between, 0)


def _become(task: Dict[str, Any], driver: int) -> None:
    """Makes this copy what a process that the driver starts would be."""
    os.setsid()
    while os.getppid() != driver:  # until the process between us has ended
        if not os.path.exists(f"/proc/{driver}"):
            os._exit(1)
        os.sched_yield()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != driver:  # it has died before we asked
        os._exit(1)
    output = os.open(task["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    os.chdir(task["folder"])
    os.environ.update(task["environment"])
    tempfile.tempdir = None


def _end(run: Callable[[Sequence[str]], None], arguments: Sequence[str]) -> None:
    """Runs the host, and ends as a program does."""
    try:
        run(arguments)
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)
