"""The workers of a campaign: who is idle, who is busy with what, and who has overstepped a limit."""

from __future__ import annotations

import contextlib
import enum
import selectors
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opera.errors import EnvironmentBroken
from opera.worker.process import Broken, Done, Event, Limits, Lost, Raised, Ready, Worker, WorkerSpec
from opera.worker.processes import Guardian, adopt_orphans, kill_orphans
from opera.worker.protocol import Message

POLL = 0.02
"""Seconds between two looks at memory and deadlines: at 250 ms a leak gets 200 MB over its cap, at 20 ms 40 MB."""
_START_ATTEMPTS = 3


class Role(enum.Enum):
    """What a worker is for. A *fresh* one gives every task a process of its own, copied from a warm one where that is allowed."""

    LIBRARY = "library"
    LIBRARY_FRESH = "library-fresh"
    COMPILER = "compiler"
    LIBRARY_SPAWNED = "library-spawned"
    COMPILER_FRESH = "compiler-fresh"
    COMPILER_SPAWNED = "compiler-spawned"

    @property
    def is_fresh(self) -> bool:
        """Whether its tasks run in a process of their own."""
        return self not in (Role.LIBRARY, Role.COMPILER)

    @property
    def is_library(self) -> bool:
        """Whether it is a materialiser."""
        return self in (Role.LIBRARY, Role.LIBRARY_FRESH, Role.LIBRARY_SPAWNED)


@dataclass(frozen=True)
class Post:
    """How one role is filled.

    Attributes:
        spec: How to start a worker.
        forkable: Whether a fresh process may be a copy of a warm one.
        warmup: A task that warms a process up before it is copied.
        recycle: Tasks after which a worker is replaced.
    """

    spec: WorkerSpec
    forkable: bool = True
    warmup: Message | None = None
    recycle: int = 1000


@dataclass
class _Desk:
    worker: Worker
    role: Role
    job: Any = None
    warming: bool = False


class Crew:
    """All workers of a campaign, at most *slots* of them busy at a time."""

    def __init__(self, posts: Mapping[Role, Post], limits: Limits, slots: int, scratch: Path) -> None:
        self._posts = dict(posts)
        self._limits = limits
        self._slots = slots
        self._scratch = scratch
        self._desks: list[_Desk] = []
        self._selector = selectors.DefaultSelector()
        self._checked = 0.0
        self._failed_starts = 0
        self.infos: dict[Role, Message] = {}
        adopt_orphans()
        self._guardian = Guardian()

    @property
    def free_slots(self) -> int:
        """How many more workers may be busy."""
        return self._slots - sum(1 for desk in self._desks if desk.worker.busy or not desk.worker.ready)

    def busy(self, role: Role) -> int:
        """How many workers of *role* are starting or working."""
        return sum(1 for desk in self._desks if desk.role is role and (desk.worker.busy or not desk.worker.ready))

    def jobs(self) -> list[tuple[Role, Any, str]]:
        """Role, job and stage of everything in progress."""
        return [(desk.role, desk.job, desk.worker.stage) for desk in self._desks if desk.job is not None]

    def set_warmup(self, role: Role, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        self._posts[role] = replace(self._posts[role], warmup=task)

    def never_copy(self, role: Role) -> None:
        """From now on every task of *role* gets a newly started process."""
        self._posts[role] = replace(self._posts[role], forkable=False, warmup=None)

    def assign(self, role: Role, job: Any, task: Message) -> bool:
        """Gives *task* to an idle worker of *role*. Without one, starts one, and returns False: the caller offers the job again."""
        for desk in self._desks:
            if desk.role is role and desk.worker.ready and not desk.worker.busy:
                desk.job = job
                desk.worker.submit(task, fork=role.is_fresh and self._posts[role].forkable)
                return True
        if not any(desk.role is role and not desk.worker.ready for desk in self._desks):
            self._start(role)
        return False

    def _start(self, role: Role) -> None:
        spec = self._posts[role].spec
        try:
            worker = Worker(spec, self._limits, self._scratch)
        except FileNotFoundError as error:
            raise EnvironmentBroken(
                f"the interpreter {spec.python} for {spec.label} does not exist; correct `python` in opera.toml"
            ) from error
        self._desks.append(_Desk(worker, role))
        self._selector.register(worker.fileno(), selectors.EVENT_READ, self._desks[-1])

    def wait(self) -> Iterator[tuple[Role, Any, Done | Raised | Lost]]:
        """Waits for at most `POLL` seconds and yields what has happened to jobs.

        Raises:
            EnvironmentBroken: a worker cannot start.
        """
        for key, _ in self._selector.select(POLL):
            desk: _Desk = key.data
            if not desk.worker.alive:
                continue
            before = desk.worker.fileno()
            for event in desk.worker.receive():
                yield from self._handle(desk, event)
            if not desk.worker.alive:
                self._dismiss(desk, before)
        now = time.monotonic()
        if now - self._checked >= POLL:
            self._checked = now
            for desk in list(self._desks):
                before = desk.worker.fileno()
                lost = desk.worker.overdue(now)
                if lost is not None:
                    yield from self._handle(desk, lost)
                    if not desk.worker.alive:
                        self._dismiss(desk, before)

    def _handle(self, desk: _Desk, event: Event) -> Iterator[tuple[Role, Any, Done | Raised | Lost]]:
        post = self._posts[desk.role]
        if isinstance(event, Ready):
            self.infos[desk.role] = event.info
            if desk.role.is_fresh and post.forkable and post.warmup is not None:
                desk.warming = True
                desk.worker.submit(post.warmup)
            return
        if isinstance(event, Broken):
            raise EnvironmentBroken(_broken(post.spec.label, event))
        if desk.job is None:
            desk.warming = False
            if isinstance(event, Lost):
                self._count_failed_start(post, event)
            return
        job, desk.job = desk.job, None
        self._failed_starts = 0
        yield desk.role, job, event
        if desk.role.is_fresh:
            kill_orphans(other.worker.pid for other in self._desks)
        if desk.worker.alive and self._is_spent(desk, post):
            number = desk.worker.fileno()
            desk.worker.close()
            self._dismiss(desk, number)

    def _is_spent(self, desk: _Desk, post: Post) -> bool:
        if desk.role.is_fresh:
            return not post.forkable
        return desk.worker.tasks >= post.recycle or desk.worker.resident() > 0.75 * self._limits.memory

    def _count_failed_start(self, post: Post, event: Lost) -> None:
        self._failed_starts += 1
        if self._failed_starts >= _START_ATTEMPTS:
            tail = event.log.strip().splitlines()[-1:] or [""]
            raise EnvironmentBroken(
                f"{post.spec.label} does not start ({event.cause}: {event.detail}) {tail[0][:200]}; look at `opera doctor`"
            )

    def _dismiss(self, desk: _Desk, descriptor: int) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(descriptor)
        if desk in self._desks:
            self._desks.remove(desk)
        kill_orphans(other.worker.pid for other in self._desks)

    def close(self) -> None:
        """Kills every worker with all it has started."""
        for desk in list(self._desks):
            desk.worker.close()
        self._desks.clear()
        self._selector.close()
        kill_orphans(())
        self._guardian.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _broken(label: str, event: Broken) -> str:
    failure = event.failure
    lines = str(failure["message"]).strip().splitlines() or [""]
    kind = str(failure["type"]).rsplit(".", 1)[-1]
    advice = ""
    if kind in ("ModuleNotFoundError", "ImportError"):
        advice = f"; install it into that environment (`pip install 'opera-dl[{label}]'`), or name another interpreter in opera.toml"
    return f"{label} cannot be used here: {kind}: {lines[0][:300]}{advice}; `opera doctor` shows all adapters"
