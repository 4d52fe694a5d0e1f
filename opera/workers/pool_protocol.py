"""What a campaign needs of whoever employs its workers, on this machine or on many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from opera.workers.kinds import WorkerKind
from opera.workers.machine import Machine
from opera.workers.process import Done, Lost, Raised
from opera.workers.protocol import Message


class PoolProtocol(Protocol):
    """Workers by role, at most so many of them busy at a time."""

    infos: dict[WorkerKind, Message]
    """What a worker of each role has said of itself."""
    machine: Machine
    """Where what `wait` yielded last was done."""
    listener: Callable[..., None]
    """Is told what becomes of workers: the name of an event, and fields by name."""

    @property
    def free_slots(self) -> int:
        """How many more workers may be busy."""
        ...

    def busy(self, role: WorkerKind) -> int:
        """How many workers of *role* are starting or working."""
        ...

    def jobs(self) -> list[tuple[WorkerKind, Any, str]]:
        """WorkerKind, job and stage of everything in progress."""
        ...

    def workers(self) -> list[dict[str, Any]]:
        """What each worker is, has and does, as a document."""
        ...

    def set_warmup(self, role: WorkerKind, task: Message) -> None:
        """Sets the task with which processes of *role* are warmed up before they are copied."""
        ...

    def never_copy(self, role: WorkerKind) -> None:
        """From now on every task of *role* gets a newly started process."""
        ...

    def assign(self, role: WorkerKind, job: Any, task: Message, waiting: int = 1) -> bool:
        """Gives *task* to an idle worker of *role*; False where there is none yet: the caller offers the job again."""
        ...

    def is_away(self, role: WorkerKind) -> bool:
        """Whether a task for *role* would have to leave the core that its worker was started on, which costs some compilers their pace."""
        ...

    def wait(self) -> Iterator[tuple[WorkerKind, Any, Done | Raised | Lost]]:
        """Waits a moment and yields what has happened to jobs, all of which the caller has to take.

        Raises:
            EnvironmentBroken: a worker cannot start.
        """
        ...

    def close(self) -> None:
        """Ends every worker with all it has started."""
        ...
