"""The workers of a campaign on this machine: idle workers, busy workers and their tasks, and workers beyond a limit."""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from opera.errors import EnvironmentBroken
from opera.workers.machine import this_machine
from opera.workers.pool_protocol import Ended, Job, WorkerConfig, WorkerFacts, WorkerKind
from opera.workers.process import Broken, Event, Limits, Lost, Ready, Worker
from opera.workers.processes import kill_orphans, resident_alone
from opera.workers.protocol import Message
from opera.workers.supervision import supervised

POLL = 0.02
"""Seconds between two looks at memory and deadlines: at 250 ms a leak gets 200 MB over its cap, at 20 ms 40 MB."""
_ABSENT = ("ModuleNotFoundError", "ImportError")
MOST_DISTURBED = 3
"""Times that a task is given out again because its process was killed from outside; after that, its own doing is what killed it."""
_SLOTS_PER_ORIGINAL = 4
"""Slots for each warm process that fresh ones are copied from: few tests need a fresh one, and each original has to be started."""
_START_ATTEMPTS = 3
_DISTURBED_STARTS = 20
"""Largest number of starts in a row that may fail because the process is killed from outside."""


@dataclass(frozen=True)
class _Pending:
    """A task whose caller waits for the result; *disturbed* counts how often its process was killed from outside."""

    role: WorkerKind
    job: Job
    task: Message
    disturbed: int = 0


@dataclass
class _Slot:
    worker: Worker
    role: WorkerKind
    order: _Pending | None = None
    started: bool = False
    warming: bool = False


class WorkerPool:
    """All workers of a campaign, at most *slots* of them busy at a time, each on a processor core of its own as far as there are as many.

    Args:
        posts: How each role is filled.
        limits: Limits of every worker.
        slots: Most workers that are busy at a time.
        scratch: For the working folders of the workers.
        logs: Where the last words of workers are kept; None keeps none.
    """

    def __init__(
        self, posts: Mapping[WorkerKind, WorkerConfig], limits: Limits, slots: int, scratch: Path, logs: Path | None = None
    ) -> None:
        self._posts = dict(posts)
        self._limits = limits
        self._slots = slots
        self._scratch = scratch
        self._logs = logs
        self.listener: Callable[..., None] = _nobody
        """Is told of the events of workers: the name of an event, and fields by name."""
        self._desks: list[_Slot] = []
        self._selector = selectors.DefaultSelector()
        self._checked = 0.0
        self._failed_starts = self._disturbed_starts = 0
        self._again: deque[_Pending] = deque()
        self.infos: dict[WorkerKind, Message] = {}
        self.machine = this_machine()
        """The machine of the last event that `wait` yielded."""
        self._block = ExitStack()
        self._block.enter_context(supervised())

    @property
    def free_slots(self) -> int:
        """How many more workers may be busy."""
        return self._slots - len(self._again) - sum(1 for desk in self._desks if desk.worker.busy or not desk.worker.ready)

    def busy(self, role: WorkerKind) -> int:
        """How many workers of *role* are starting or working."""
        return sum(1 for desk in self._desks if desk.role is role and (desk.worker.busy or not desk.worker.ready))

    def jobs(self) -> list[tuple[WorkerKind, Job, str]]:
        """WorkerKind, job and stage of everything in progress."""
        return [(desk.order.role, desk.order.job, desk.worker.stage) for desk in self._desks if desk.order is not None]

    def workers(self) -> list[WorkerFacts]:
        """The state of each worker, as a document; `seconds` is its time in the current stage."""
        return [
            {
                "label": desk.worker.spec.label,
                "role": desk.role.value,
                "pid": desk.worker.pid,
                "state": _state(desk),
                "api": getattr(getattr(desk.order and desk.order.job, "test", None), "api", None),
                "stage": desk.worker.stage,
                "seconds": round(desk.worker.waiting(), 3),
                "resident": desk.worker.resident(),
                "tasks": desk.worker.tasks,
                "log": str(desk.worker.log),
            }
            for desk in self._desks
        ]

    def set_warmup(self, role: WorkerKind, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        self._posts[role] = replace(self._posts[role], warmup=task)

    def limit_stages(self, seconds: float) -> None:
        """Sets the time limit of each stage, of tasks in progress too."""
        self._limits = replace(self._limits, stage=seconds)
        for desk in self._desks:
            desk.worker.limits = self._limits

    def never_copy(self, role: WorkerKind) -> None:
        """Makes every later task of *role* run in a newly started process."""
        self._posts[role] = replace(self._posts[role], forkable=False, warmup=None)

    def prepare(self, *roles: WorkerKind) -> None:
        """Starts a worker of each of *roles* at the same time, as far as there are slots."""
        for role in roles[: self.free_slots]:
            self._start(role)

    def assign(self, role: WorkerKind, job: Job, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle worker of *role*. Without one, starts one, and returns False: the caller offers the job again.

        A task whose process is killed from outside is given out again, up to `MOST_DISTURBED` times.

        Args:
            role: Who shall do it.
            job: Comes back with the result.
            task: What to do.
            waiting: Jobs that wait for this role: no more workers start at a time.
        """
        return self._hand_over(_Pending(role, job, task), waiting)

    def is_away(self, role: WorkerKind) -> bool:
        """Whether there are idle workers of *role*, and something works on the home core of each."""
        idle = self._idle(role)
        return bool(idle) and not any(desk.worker.home_is_free() for desk in idle)

    def _idle(self, role: WorkerKind) -> list[_Slot]:
        return [desk for desk in self._desks if desk.role is role and desk.worker.ready and not desk.worker.busy]

    def _hand_over(self, order: _Pending, waiting: int) -> bool:
        role = order.role
        idle = self._idle(role)
        if idle:
            desk = next((desk for desk in idle if desk.worker.takes_home()), idle[0])
            desk.order = order
            desk.worker.submit(order.task, fork=role.is_fresh and self._posts[role].forkable)
            return True
        desks = [desk for desk in self._desks if desk.role is role]
        starting = sum(not desk.worker.ready for desk in desks)
        copied = role.is_fresh and self._posts[role].forkable
        if starting < waiting and (not copied or len(desks) < max(1, self._slots // _SLOTS_PER_ORIGINAL)):
            self._start(role)
        return False

    def _start(self, role: WorkerKind) -> None:
        spec = self._posts[role].spec
        try:
            worker = Worker(spec, self._limits, self._scratch, self._logs)
        except FileNotFoundError as error:
            raise EnvironmentBroken(
                f"the interpreter {spec.python} for {spec.label} does not exist; correct `python` in opera.toml"
            ) from error
        self._desks.append(_Slot(worker, role))
        self._selector.register(worker.fileno(), selectors.EVENT_READ, self._desks[-1])
        self._tell("worker-started", self._desks[-1])

    def wait(self) -> Iterator[Ended]:
        """Waits for at most `POLL` seconds and yields what has happened to jobs.

        Raises:
            EnvironmentBroken: a worker cannot start.
        """
        return iter(list(self._events()))

    def _events(self) -> Iterator[Ended]:
        while self._again and self._hand_over(self._again[0], len(self._again)):
            self._again.popleft()
        for key, _ in self._selector.select(POLL):
            desk: _Slot = key.data
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
                lost = desk.worker.overdue()
                if lost is not None:
                    yield from self._handle(desk, lost)
                    if not desk.worker.alive:
                        self._dismiss(desk, before)

    def _handle(self, desk: _Slot, event: Event) -> Iterator[Ended]:
        post = self._posts[desk.role]
        if isinstance(event, Ready):
            desk.started = True
            self._tell("worker-ready", desk)
            self.infos[desk.role] = event.info
            if desk.role.is_fresh and post.forkable and post.warmup is not None:
                desk.warming = True
                desk.worker.submit(post.warmup, warmup=True)
            return
        if isinstance(event, Broken):
            raise EnvironmentBroken(_broken(post.spec.label, event))
        if isinstance(event, Lost):
            api = getattr(getattr(desk.order and desk.order.job, "test", None), "api", None)
            self._tell("worker-lost", desk, cause=event.cause, detail=event.detail, stage=event.stage, api=api)
        if desk.order is None:
            if isinstance(event, Lost) and (desk.warming or not desk.started):
                self._count_failed_start(post, event)
            desk.warming = False
            return
        order, desk.order = desk.order, None
        if isinstance(event, Lost) and event.from_outside and order.disturbed < MOST_DISTURBED:
            self._again.append(replace(order, disturbed=order.disturbed + 1))
        else:
            self._failed_starts = self._disturbed_starts = 0
            yield order.role, order.job, event
        if desk.role.is_fresh:
            kill_orphans(other.worker.pid for other in self._desks)
        if desk.worker.alive and self._is_spent(desk, post):
            number = desk.worker.fileno()
            self._tell("worker-replaced", desk, tasks=desk.worker.tasks)
            desk.worker.close()
            self._dismiss(desk, number)

    def _tell(self, event: str, desk: _Slot, **fields: object) -> None:
        self.listener(event, worker=desk.worker.spec.label, role=desk.role.value, pid=desk.worker.pid, **fields)

    def _is_spent(self, desk: _Slot, post: WorkerConfig) -> bool:
        if desk.role.is_fresh:
            return not post.forkable
        return desk.worker.spent or desk.worker.tasks >= post.recycle or resident_alone(desk.worker.pid) > 0.75 * self._limits.memory

    def _count_failed_start(self, post: WorkerConfig, event: Lost) -> None:
        if event.from_outside:
            self._disturbed_starts += 1
        else:
            self._failed_starts += 1
        if self._failed_starts >= _START_ATTEMPTS or self._disturbed_starts >= _DISTURBED_STARTS:
            tail = event.log.strip().splitlines()[-1:] or [""]
            raise EnvironmentBroken(f"{post.spec.label} does not start ({event.cause}: {event.detail}) {tail[0][:200]}; run `opera doctor`")

    def _dismiss(self, desk: _Slot, descriptor: int) -> None:
        with suppress(KeyError, ValueError):
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
        kill_orphans()
        self._block.close()


def _nobody(event: str, **fields: object) -> None:
    """Ignores an event of a worker."""


def _state(desk: _Slot) -> str:
    if not desk.worker.ready:
        return "starting"
    return "warming" if desk.warming else "busy" if desk.worker.busy else "idle"


def _broken(label: str, event: Broken) -> str:
    failure = event.failure
    lines = str(failure["message"]).strip().splitlines() or [""]
    kind = str(failure["type"]).rsplit(".", 1)[-1]
    doctor = f"`opera doctor` {'says what to install' if kind in _ABSENT else 'shows all adapters'}"
    return f"{label} cannot be used here: {kind}: {lines[0][:300]}; {doctor}"
