"""What workers are for, and how each of these posts is filled."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from opera.workers.process import WorkerSpec
from opera.workers.protocol import Message


class WorkerKind(enum.Enum):
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
        return self not in (WorkerKind.LIBRARY, WorkerKind.COMPILER)

    @property
    def is_library(self) -> bool:
        """Whether it is a materialiser."""
        return self in (WorkerKind.LIBRARY, WorkerKind.LIBRARY_FRESH, WorkerKind.LIBRARY_SPAWNED)


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
