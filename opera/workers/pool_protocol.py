"""The interface of a worker pool, on this machine or on a Ray cluster: roles of workers, configurations, slots."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from opera.workers.machine import Machine
from opera.workers.process import Done, Lost, Raised, WorkerSpec
from opera.workers.protocol import Message


class Role(enum.Enum):
    """The purpose of a worker. A *fresh* one runs every task in a separate process, copied from a warm one if that is allowed."""

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


@dataclass(frozen=True)
class WorkerConfig:
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


class WorkerFacts(TypedDict):
    """What a worker is, has and does, as JSON."""

    label: str
    role: str
    pid: int
    state: str
    api: str | None
    stage: str
    seconds: float
    resident: int
    tasks: int
    log: str


Job = Any
"""A value that the caller passes with a task, and gets back with the outcome."""
Ended = tuple[Role, Job, Done | Raised | Lost]
"""Whose task it was, the job that came with it, and what became of it."""


class PoolProtocol(Protocol):
    """Workers by role, with a limit on busy workers."""

    infos: dict[Role, Message]
    """The information that a worker of each role has sent about itself."""
    machine: Machine
    """The machine of the last event that `wait` yielded."""
    listener: Callable[..., None]
    """Is told of the events of workers: the name of an event, and fields by name."""

    @property
    def free_slots(self) -> int:
        """How many more workers may be busy."""
        ...

    def busy(self, role: Role) -> int:
        """How many workers of *role* are starting or working."""
        ...

    def jobs(self) -> list[tuple[Role, Job, str]]:
        """Role, job and stage of everything in progress."""
        ...

    def workers(self) -> list[WorkerFacts]:
        """The state of each worker, as a document."""
        ...

    def set_warmup(self, role: Role, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        ...

    def limit_stages(self, seconds: float) -> None:
        """Sets the time limit of each stage."""
        ...

    def never_copy(self, role: Role) -> None:
        """Makes every later task of *role* run in a newly started process."""
        ...

    def prepare(self, *roles: Role) -> None:
        """Starts a worker of each of *roles* at the same time, as far as there are slots: most of the time to start is imports."""
        ...

    def assign(self, role: Role, job: Job, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle worker of *role*; False if no worker is idle: then the caller offers the job again later."""
        ...

    def is_away(self, role: Role) -> bool:
        """Whether a task for *role* would have to leave the core that its worker was started on, which slows some compilers down."""
        ...

    def wait(self) -> Iterator[Ended]:
        """Waits a moment and yields the events of jobs; the caller has to take all of them.

        Raises:
            EnvironmentBroken: a worker cannot start.
        """
        ...

    def close(self) -> None:
        """Ends every worker and all its child processes."""
        ...


@dataclass(frozen=True)
class Cluster:
    """The cluster that the workers run on.

    Attributes:
        address: Address of a running cluster, as Ray takes it; None starts a cluster on this machine, which ends with the campaign.
        shared: Whether every machine has the workspace at the same path. If not, files travel with the tasks.
    """

    address: str | None = None
    shared: bool = False
