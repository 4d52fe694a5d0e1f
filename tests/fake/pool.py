"""A pool without processes: the workers of the fake library and compilers do their tasks in this process, one after the other.

Requests and replies travel as bytes and are checked as those of real workers. A behaviour that only the driver of a process can survive
(a crash of the interpreter, a hang, a leak) is refused: such a campaign needs `Lab.run_in_processes`.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from opera.workers import messages
from opera.workers.child import Handler, _attempt
from opera.workers.machine import this_machine
from opera.workers.pool_protocol import Ended, Job, Role, WorkerConfig, WorkerFacts
from opera.workers.process import Done, Limits, Lost, Raised, WorkerSpec
from opera.workers.protocol import Message, pack, unpack

_HEADER = 4
_ALONE = threading.Lock()


class _Dead(BaseException):
    """The process of a worker would be gone."""


class _Worker:
    """What a process holds: the handler, in the environment of the process."""

    def __init__(self, spec: WorkerSpec) -> None:
        self.spec = spec
        loaded = str(spec.options.get("adapter") or spec.options["template"])
        assert loaded.startswith("opera_fake"), f"{loaded} imports what only a process of its own may import"
        self._death: tuple[str, str] | None = None
        module, _, attribute = spec.setup.partition(":")
        with self._inside():
            self._handler: Handler = getattr(importlib.import_module(module), attribute)(_travelled(dict(spec.options)))
            ready = messages.said(_travelled({"is": "ready", "info": self._handler.ready()}), spec.setup)
        assert isinstance(ready, messages.ReadyMessage)
        self.info = ready.info

    def do(self, task: Message) -> Done | Raised | Lost:
        """The outcome of one task."""
        sent: list[Message] = []
        stages: list[str] = []
        with self._inside():
            _attempt(self._handler, {"task": _travelled(task), "number": 1}, sent.append, stages.append)
        if self._death is not None:
            stage = stages[-1] if stages else ""
            return Lost(*self._death, stage, "", {stage: 0.0} if stage else {})
        said = messages.said(_travelled(sent[0]), self.spec.setup)
        if isinstance(said, messages.DoneMessage):
            return Done(said.result, said.seconds)
        assert isinstance(said, messages.RaisedMessage)
        return Raised(said.stage, said.failure, said.seconds)

    @property
    def usable(self) -> bool:
        """Whether it can do another task."""
        return self._death is None and not self._handler.spent

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """One worker at a time: the threads of a triage have a pool each."""
        behaviour = importlib.import_module("opera_fake.behaviour")
        with (
            _ALONE,
            mock.patch.dict(os.environ, self.spec.environment),
            mock.patch.object(behaviour, "abort", partial(self._die, "signal", "SIGABRT")),
            mock.patch.object(behaviour, "leave", lambda status: self._die("exit", str(status))),
        ):
            yield

    def _die(self, cause: str, detail: str) -> None:
        self._death = (cause, detail)
        raise _Dead


class LocalPool:
    """Does the tasks of a campaign when the driver waits for them, in the order in which they were given out."""

    def __init__(self, configs: Mapping[Role, WorkerConfig], limits: Limits, slots: int, scratch: Path, logs: Path | None = None) -> None:
        self._configs = dict(configs)
        self._slots = slots
        self._workers: dict[Role, _Worker] = {}
        self._given: deque[tuple[Role, Job, Message]] = deque()
        self.infos: dict[Role, Message] = {}
        self.machine = this_machine()
        self.listener: Callable[..., None] = print

    @property
    def free_slots(self) -> int:
        return self._slots - len(self._given)

    def busy(self, role: Role) -> int:
        return sum(each is role for each, _, _ in self._given)

    def jobs(self) -> list[tuple[Role, Job, str]]:
        return [(role, job, "") for role, job, _ in self._given]

    def workers(self) -> list[WorkerFacts]:
        return []

    def set_warmup(self, role: Role, task: Message) -> None: ...

    def limit_stages(self, seconds: float) -> None: ...

    def never_copy(self, role: Role) -> None: ...

    def prepare(self, *roles: Role) -> None:
        """Starts nothing: a worker of this process starts when it gets a task."""

    def assign(self, role: Role, job: Job, task: Message, waiting: int = 1) -> bool:
        if role.is_fresh or role not in self._workers or not self._workers[role].usable:
            self._workers[role] = _Worker(self._configs[role].spec)
            self.infos[role] = self._workers[role].info
        self._given.append((role, job, task))
        return True

    def is_away(self, role: Role) -> bool:
        return False

    def wait(self) -> Iterator[Ended]:
        if self._given:
            role, job, task = self._given.popleft()
            yield role, job, self._worker(role).do(task)

    def _worker(self, role: Role) -> _Worker:
        """A worker of *role* that can do a task: another one, where the last task was the end of it."""
        if not self._workers[role].usable:
            self._workers[role] = _Worker(self._configs[role].spec)
        return self._workers[role]

    def close(self) -> None:
        self._workers.clear()


def _travelled(message: Any) -> Message:
    """*message* as the other side reads it."""
    return unpack(pack(message)[_HEADER:], messages.parsed)
