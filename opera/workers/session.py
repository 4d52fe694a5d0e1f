"""A worker for commands that need a few replies without a campaign."""

from __future__ import annotations

import select
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from opera.workers.process import Broken, Done, Event, Limits, Lost, Raised, Ready, Worker, WorkerSpec
from opera.workers.protocol import Message
from opera.workers.supervision import supervised

_POLL = 0.05
"""Seconds between two looks at memory, deadlines and the wish to stop."""


class WorkerSession:
    """One worker, asked one thing after the other. To be used in one thread only: a worker dies with the thread that started it."""

    def __init__(self, spec: WorkerSpec, limits: Limits, scratch: Path, stop: threading.Event | None = None) -> None:
        self._stop = stop or threading.Event()
        with ExitStack() as stack:
            stack.enter_context(supervised())
            self._worker = Worker(spec, limits, scratch)
            stack.callback(self._worker.close)
            self._stack = stack.pop_all()

    def start(self) -> Ready | Broken | Lost:
        """Waits until the worker is ready, or known not to become so."""
        event = self._next()
        assert isinstance(event, Ready | Broken | Lost)
        return event

    def ask(self, task: Message) -> Done | Raised | Lost:
        """The outcome of *task*; after `Lost`, the session is over."""
        self._worker.submit(task)
        event = self._next()
        assert isinstance(event, Done | Raised | Lost)
        return event

    def _next(self) -> Event:
        while not self._stop.is_set():
            select.select([self._worker], [], [], _POLL)
            for event in self._worker.receive():
                return event
            lost = self._worker.overdue()
            if lost is not None:
                return lost
        raise KeyboardInterrupt

    def close(self) -> None:
        """Ends the worker with all it has started."""
        self._stack.close()


@contextmanager
def session(spec: WorkerSpec, limits: Limits, scratch: Path, stop: threading.Event | None = None) -> Generator[WorkerSession]:
    """A session that is closed at the end; *stop* makes a waiting caller raise KeyboardInterrupt."""
    opened = WorkerSession(spec, limits, scratch, stop)
    try:
        yield opened
    finally:
        opened.close()
