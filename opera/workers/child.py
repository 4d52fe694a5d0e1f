"""The child's half of a worker: sets the process up, loads one role, and serves tasks until the driver goes away.

    to the child    {"setup": "module:attribute", "options": {...}, "path": [...], "first": [...]}, then any number of
                    {"task": {...}, "number": n, "fork": bool}, or {"quit": true}
    to the driver   {"is": "ready", "info": {...}} or {"is": "broken", "failure": {...}} once; per task
                    {"is": "forked", "task": n, "pid": pid} where asked for, then
                    {"is": "done", "task": n, "result": {...}, "seconds": {stage: s}, "spent": bool} or
                    {"is": "raised", "task": n, "failure": {...}, "stage": "...", "seconds": {stage: s}, "spent": bool},
                    and where the task was done in a copy {"is": "died", "task": n, "status": of waitpid}

The driver checks all that against `opera.workers.messages`.

Each stage is written into shared memory before it is entered, so that the driver knows it when it looks, and is not woken by it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

from opera.workers.failure import describe
from opera.workers.protocol import Message, Reader, pack, write_all
from opera.workers.stage import StageCell

_PR_SET_PDEATHSIG = 1
_SPEAKERS = {os.getpid()}
"""The processes that may talk to the driver. A copy that a task made of itself, and that came back from the task, may not."""


class Stages:
    """Says each stage before it is entered, and keeps the seconds of each."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.seconds: dict[str, float] = {}
        self.current = ""
        self._since = 0.0

    def enter(self, name: str) -> None:
        """Ends the current stage and begins *name*."""
        self.leave()
        self.current = name
        self._say(name)
        self._since = time.perf_counter()

    def leave(self) -> None:
        """Ends the current stage; what follows belongs to none."""
        if self._since:
            self.seconds[self.current] = self.seconds.get(self.current, 0.0) + time.perf_counter() - self._since
            self._since = 0.0


class SendMessage(Protocol):
    """Sends one message to the driver."""

    def __call__(self, message: Message) -> None: ...


class Handler(Protocol):
    """The handler of a worker, built once per process with the options of the set-up message."""

    spent: bool
    """Whether this process can do no further task; the driver is told with each answer."""

    def ready(self) -> Message:
        """Imports what is heavy and returns what the driver should know (versions, settings)."""
        ...

    def handle(self, task: Message, stages: Stages) -> Message:
        """Does one task. An exception becomes the failure of the stage it escaped from."""
        ...


def serve(read_fd: int, write_fd: int, stage_fd: int) -> None:
    """Serves one driver until it closes its end."""
    _detach()
    cell = StageCell(stage_fd)
    os.close(stage_fd)
    for descriptor in (read_fd, write_fd):
        os.set_inheritable(descriptor, False)
    reader = Reader(read_fd)

    def send(message: Message) -> None:
        _speak()
        write_all(write_fd, pack(message))

    def say(stage: str) -> None:
        _speak()
        cell.write(stage)

    setup = reader.wait()
    if setup is None:
        return
    try:
        role = _load(setup)
        ready = role.ready()
    except BaseException as error:
        send({"is": "broken", "failure": describe(error)})
        return
    gc.freeze()
    send({"is": "ready", "info": ready})
    while (message := reader.wait()) is not None and "quit" not in message:
        act = _forked if message["fork"] else _attempt
        act(role, message, send, say)


def _speak() -> None:
    """Ends the process if it is not one of those that may talk to the driver."""
    if os.getpid() not in _SPEAKERS:
        os._exit(0)


def _detach() -> None:
    """Dies with the driver, keeps descriptor 1 away from the protocol, ignores the terminal's Ctrl-C."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os._exit(0)
    sys.stdout.flush()
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _load(setup: Message) -> Handler:
    sys.path[:] = [*setup.get("first", []), *sys.path, *setup.get("path", [])]
    module, _, attribute = str(setup["setup"]).partition(":")
    role: Any = getattr(importlib.import_module(module), attribute)
    return role(setup.get("options", {}))


def _attempt(role: Handler, message: Message, send: SendMessage, say: Callable[[str], None]) -> None:
    stages = Stages(say)
    try:
        result = role.handle(message["task"], stages)
        stages.leave()
        reply: Message = {"is": "done", "result": result}
    except BaseException as error:
        stages.leave()
        reply = {"is": "raised", "failure": describe(error), "stage": stages.current}
    with contextlib.suppress(Exception):
        sys.stderr.flush()
    send({**reply, "task": message["number"], "seconds": stages.seconds, "spent": role.spent})


def _forked(role: Handler, message: Message, send: SendMessage, say: Callable[[str], None]) -> None:
    """Does the task in a copy of this warm process, in a process group of its own, so that the driver can kill it alone."""
    child = os.fork()
    if child == 0:
        _SPEAKERS.clear()
        _SPEAKERS.add(os.getpid())
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        send({"is": "forked", "task": message["number"], "pid": os.getpid()})
        _attempt(role, message, send, say)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    send({"is": "died", "task": message["number"], "status": status})
