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
from opera.workers.pool_protocol import Ended, Job, Role, WorkerConfig, WorkerFacts
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

    role: Role
    job: Job
    task: Message
    disturbed: int = 0


@dataclass
class _Slot:
    worker: Worker
    role: Role
    order: _Pending | None = None
    started: bool = False
    warming: bool = False


class WorkerPool:
    """All workers of a campaign, at most *slots* of them busy at a time, each on a processor core of its own as far as there are as many.

    Args:
        configs: How each role is filled.
        limits: Limits of every worker.
        slots: Most workers that are busy at a time.
        scratch: For the working folders of the workers.
        logs: Where the last words of workers are kept; None keeps none.
    """

    def __init__(self, configs: Mapping[Role, WorkerConfig], limits: Limits, slots: int, scratch: Path, logs: Path | None = None) -> None:
        self._configs = dict(configs)
        self._limits = limits
        self._capacity = slots
        self._scratch = scratch
        self._logs = logs
        self.listener: Callable[..., None] = _nobody
        """Is told of the events of workers: the name of an event, and fields by name."""
        self._slots: list[_Slot] = []
        self._selector = selectors.DefaultSelector()
        self._checked = 0.0
        self._failed_starts = self._disturbed_starts = 0
        self._again: deque[_Pending] = deque()
        self.infos: dict[Role, Message] = {}
        self.machine = this_machine()
        """The machine of the last event that `wait` yielded."""
        self._block = ExitStack()
        self._block.enter_context(supervised())

    @property
    def free_slots(self) -> int:
        """How many more workers may be busy."""
        return self._capacity - len(self._again) - sum(1 for slot in self._slots if slot.worker.busy or not slot.worker.ready)

    def busy(self, role: Role) -> int:
        """How many workers of *role* are starting or working."""
        return sum(1 for slot in self._slots if slot.role is role and (slot.worker.busy or not slot.worker.ready))

    def jobs(self) -> list[tuple[Role, Job, str]]:
        """Role, job and stage of everything in progress."""
        return [(slot.order.role, slot.order.job, slot.worker.stage) for slot in self._slots if slot.order is not None]

    def workers(self) -> list[WorkerFacts]:
        """The state of each worker, as a document; `seconds` is its time in the current stage."""
        return [
            {
                "label": slot.worker.spec.label,
                "role": slot.role.value,
                "pid": slot.worker.pid,
                "state": _state(slot),
                "api": getattr(getattr(slot.order and slot.order.job, "test", None), "api", None),
                "stage": slot.worker.stage,
                "seconds": round(slot.worker.waiting(), 3),
                "resident": slot.worker.resident(),
                "tasks": slot.worker.tasks,
                "log": str(slot.worker.log),
            }
            for slot in self._slots
        ]

    def set_warmup(self, role: Role, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        self._configs[role] = replace(self._configs[role], warmup=task)

    def limit_stages(self, seconds: float) -> None:
        """Sets the time limit of each stage, of tasks in progress too."""
        self._limits = replace(self._limits, stage=seconds)
        for slot in self._slots:
            slot.worker.limits = self._limits

    def never_copy(self, role: Role) -> None:
        """Makes every later task of *role* run in a newly started process."""
        self._configs[role] = replace(self._configs[role], forkable=False, warmup=None)

    def prepare(self, *roles: Role) -> None:
        """Starts a worker of each of *roles* at the same time, as far as there are slots."""
        for role in roles[: self.free_slots]:
            self._start(role)

    def assign(self, role: Role, job: Job, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle worker of *role*. Without one, starts one, and returns False: the caller offers the job again.

        A task whose process is killed from outside is given out again, up to `MOST_DISTURBED` times.

        Args:
            role: Who shall do it.
            job: Comes back with the result.
            task: What to do.
            waiting: Jobs that wait for this role: no more workers start at a time.
        """
        return self._hand_over(_Pending(role, job, task), waiting)

    def is_away(self, role: Role) -> bool:
        """Whether there are idle workers of *role*, and something works on the home core of each."""
        idle = self._idle(role)
        return bool(idle) and not any(slot.worker.home_is_free() for slot in idle)

    def _idle(self, role: Role) -> list[_Slot]:
        return [slot for slot in self._slots if slot.role is role and slot.worker.ready and not slot.worker.busy]

    def _hand_over(self, order: _Pending, waiting: int) -> bool:
        role = order.role
        idle = self._idle(role)
        if idle:
            slot = next((slot for slot in idle if slot.worker.takes_home()), idle[0])
            slot.order = order
            slot.worker.submit(order.task, fork=role.is_fresh and self._configs[role].forkable)
            return True
        own = [slot for slot in self._slots if slot.role is role]
        starting = sum(not slot.worker.ready for slot in own)
        copied = role.is_fresh and self._configs[role].forkable
        if starting < waiting and (not copied or len(own) < max(1, self._capacity // _SLOTS_PER_ORIGINAL)):
            self._start(role)
        return False

    def _start(self, role: Role) -> None:
        spec = self._configs[role].spec
        try:
            worker = Worker(spec, self._limits, self._scratch, self._logs)
        except FileNotFoundError as error:
            raise EnvironmentBroken(
                f"the interpreter {spec.python} for {spec.label} does not exist; correct `python` in opera.toml"
            ) from error
        self._slots.append(_Slot(worker, role))
        self._selector.register(worker.fileno(), selectors.EVENT_READ, self._slots[-1])
        self._tell("worker-started", self._slots[-1])

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
            slot: _Slot = key.data
            if not slot.worker.alive:
                continue
            before = slot.worker.fileno()
            for event in slot.worker.receive():
                yield from self._handle(slot, event)
            if not slot.worker.alive:
                self._dismiss(slot, before)
        now = time.monotonic()
        if now - self._checked >= POLL:
            self._checked = now
            for slot in list(self._slots):
                before = slot.worker.fileno()
                lost = slot.worker.overdue()
                if lost is not None:
                    yield from self._handle(slot, lost)
                    if not slot.worker.alive:
                        self._dismiss(slot, before)

    def _handle(self, slot: _Slot, event: Event) -> Iterator[Ended]:
        config = self._configs[slot.role]
        if isinstance(event, Ready):
            slot.started = True
            self._tell("worker-ready", slot)
            self.infos[slot.role] = event.info
            if slot.role.is_fresh and config.forkable and config.warmup is not None:
                slot.warming = True
                slot.worker.submit(config.warmup, warmup=True)
            return
        if isinstance(event, Broken):
            raise EnvironmentBroken(_broken(config.spec.label, event))
        if isinstance(event, Lost):
            api = getattr(getattr(slot.order and slot.order.job, "test", None), "api", None)
            self._tell("worker-lost", slot, cause=event.cause, detail=event.detail, stage=event.stage, api=api)
        if slot.order is None:
            if isinstance(event, Lost) and (slot.warming or not slot.started):
                self._count_failed_start(config, event)
            slot.warming = False
            return
        order, slot.order = slot.order, None
        if isinstance(event, Lost) and event.from_outside and order.disturbed < MOST_DISTURBED:
            self._again.append(replace(order, disturbed=order.disturbed + 1))
        else:
            self._failed_starts = self._disturbed_starts = 0
            yield order.role, order.job, event
        if slot.role.is_fresh:
            kill_orphans(other.worker.pid for other in self._slots)
        if slot.worker.alive and self._is_spent(slot, config):
            number = slot.worker.fileno()
            self._tell("worker-replaced", slot, tasks=slot.worker.tasks)
            slot.worker.close()
            self._dismiss(slot, number)

    def _tell(self, event: str, slot: _Slot, **fields: object) -> None:
        self.listener(event, worker=slot.worker.spec.label, role=slot.role.value, pid=slot.worker.pid, **fields)

    def _is_spent(self, slot: _Slot, config: WorkerConfig) -> bool:
        if slot.role.is_fresh:
            return not config.forkable
        return slot.worker.spent or slot.worker.tasks >= config.recycle or resident_alone(slot.worker.pid) > 0.75 * self._limits.memory

    def _count_failed_start(self, config: WorkerConfig, event: Lost) -> None:
        if event.from_outside:
            self._disturbed_starts += 1
        else:
            self._failed_starts += 1
        if self._failed_starts >= _START_ATTEMPTS or self._disturbed_starts >= _DISTURBED_STARTS:
            tail = event.log.strip().splitlines()[-1:] or [""]
            raise EnvironmentBroken(
                f"{config.spec.label} does not start ({event.cause}: {event.detail}) {tail[0][:200]}; run `opera doctor`"
            )

    def _dismiss(self, slot: _Slot, descriptor: int) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(descriptor)
        if slot in self._slots:
            self._slots.remove(slot)
        kill_orphans(other.worker.pid for other in self._slots)

    def close(self) -> None:
        """Kills every worker with all it has started."""
        for slot in list(self._slots):
            slot.worker.close()
        self._slots.clear()
        self._selector.close()
        kill_orphans()
        self._block.close()


def _nobody(event: str, **fields: object) -> None:
    """Ignores an event of a worker."""


def _state(slot: _Slot) -> str:
    if not slot.worker.ready:
        return "starting"
    return "warming" if slot.warming else "busy" if slot.worker.busy else "idle"


def _broken(label: str, event: Broken) -> str:
    failure = event.failure
    lines = str(failure["message"]).strip().splitlines() or [""]
    kind = str(failure["type"]).rsplit(".", 1)[-1]
    doctor = f"`opera doctor` {'says what to install' if kind in _ABSENT else 'shows all adapters'}"
    return f"{label} cannot be used here: {kind}: {lines[0][:300]}; {doctor}"
