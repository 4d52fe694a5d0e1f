"""What is left to do of a campaign: one job for each task of each test."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from opera.difftest.judge import Judgement
from opera.difftest.test import Test


@dataclass(frozen=True)
class Job:
    """One task of one test.

    Attributes:
        test: The test.
        first: The judgements that a fresh process is asked to confirm, the earliest first.
        confirmed: A failure that was confirmed; it is looked at again, then run at the lowest optimisation level.
        looking: Whether the job is that second look.
        seconds: Stage seconds of the materialiser, which belong to the test as well; those of the second look stand under one name.
        force: Whether to make again what the cache claims to have.
        remade: How often its files were made again because the compiler's worker found them damaged.
    """

    test: Test
    first: tuple[Judgement, ...] = ()
    confirmed: Judgement | None = None
    looking: bool = False
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    force: bool = False
    remade: int = 0


class Backlog:
    """The tests that nothing has been done for yet, in their order; those that came back stand before them.

    Of *tests* no more is asked for than the one that is needed next, since what comes after it may depend on results.
    """

    def __init__(self, tests: Iterable[Test]) -> None:
        self._tests = iter(tests)
        self._back: deque[Job] = deque()

    def __bool__(self) -> bool:
        if not self._back:
            self._back.extend(Job(test) for test in islice(self._tests, 1))
        return bool(self._back)

    def first(self) -> Job:
        """The job that `pop` takes; there must be one."""
        if not self:
            raise IndexError("no test is left")
        return self._back[0]

    def pop(self) -> None:
        """Takes the first job away."""
        self.first()
        self._back.popleft()

    def put_back(self, job: Job) -> None:
        """Makes *job* the first one."""
        self._back.appendleft(job)
