"""Calls recorded instances again in workers of their own library, and counts those with the recorded outcome."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from opera.config import Config
from opera.corpus.selection import Chosen
from opera.difftest.messages import CallAnswers, CallRecorded, Refusal, from_json, to_json
from opera.difftest.specs import library_spec
from opera.instance import Outcome
from opera.models.template import LIBRARY_RAISED
from opera.oracles.fingerprint import template
from opera.store import Corpus, Workspace
from opera.workers.pool import WorkerPool
from opera.workers.pool_protocol import Role, WorkerConfig
from opera.workers.process import Done, Limits, Lost, Raised
from opera.workers.protocol import Message
from opera.workers.supervision import working_folder

_BATCH = 64
_FRESH_BATCH = 16


@dataclass(frozen=True)
class Called:
    """The outcome of a repeated call of one instance.

    Attributes:
        chosen: The instance.
        reason: Why the call did not return; None where it did. `library-raised` where the library raised, another reason code of the
            template where the call could not be made, `process-signal`, `process-deadline` and the like where it ended its process.
        exception: Type of the exception, name of the signal, or the limit that was passed.
        message: Message of the exception.
    """

    chosen: Chosen
    reason: str | None = None
    exception: str = ""
    message: str = ""

    @property
    def as_recorded(self) -> bool:
        """Whether it did what the record says: raised where that says so, returned otherwise."""
        return self.reason == (LIBRARY_RAISED if self.chosen.outcome == Outcome.RAISED.value else None)


@dataclass(frozen=True)
class _Job:
    """Instances for one worker. Each *attempt* is nearer to a process of its own: a long-lived one, a fresh copy, a copy for one alone."""

    rows: tuple[Chosen, ...]
    attempt: int = 0

    @property
    def role(self) -> Role:
        return Role.LIBRARY_FRESH if self.attempt else Role.LIBRARY


class Caller:
    """The workers that call instances again; a context manager."""

    def __init__(self, workspace: Workspace, config: Config, library: str, *, jobs: int, limits: Limits, seed: int) -> None:
        self.versions: dict[str, str] = {}
        self._corpus = Corpus(workspace)
        self._seed = seed
        self._queue: deque[_Job] = deque()
        spec = library_spec(config, library, workspace.cache)
        with ExitStack() as stack:
            scratch = stack.enter_context(working_folder("replay", workspace.folder / "scratch"))
            self._pool = WorkerPool({Role.LIBRARY: WorkerConfig(spec), Role.LIBRARY_FRESH: WorkerConfig(spec)}, limits, jobs, scratch)
            stack.callback(self._pool.close)
            self._stack = stack.pop_all()

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def call(self, rows: Sequence[Chosen], tick: Callable[[], None] = lambda: None) -> Iterator[Called]:
        """Calls every instance of *rows*; yields each once, in the order in which they end. *tick* is called whenever there is time.

        What does not do as recorded is called once more in a fresh process, so that no instance spoils another.

        Raises:
            EnvironmentBroken: a worker cannot start.
        """
        self._queue = deque(_Job(tuple(rows[at : at + _BATCH])) for at in range(0, len(rows), _BATCH))
        left = len(rows)
        while left:
            self._assign()
            for _, job, event in self._pool.wait():
                for called in self._settle(job, event):
                    left -= 1
                    yield called
            tick()
        self.versions = dict(next(iter(self._pool.infos.values()))["versions"])

    def _assign(self) -> None:
        while self._queue and self._pool.free_slots > 0:
            job = self._queue[0]
            if not self._pool.assign(job.role, job, self._task(job)):
                return
            self._queue.popleft()

    def _task(self, job: _Job) -> Message:
        return to_json(CallRecorded([(self._corpus.document(row.id), row.id) for row in job.rows], self._seed))

    def _settle(self, job: _Job, event: Done | Raised | Lost) -> Iterator[Called]:
        answer = from_json(event.result) if isinstance(event, Done) else None
        if answer is not None and (not isinstance(answer, CallAnswers) or len(answer.answers) != len(job.rows)):
            event, answer = Lost("protocol", "answers to other calls", "", "", {}), None
        if answer is not None:
            called = [_called(row, refusal) for row, refusal in zip(job.rows, answer.answers, strict=True)]
            again = [each.chosen for each in called if not job.attempt and not each.as_recorded]
            self._queue.extend(_Job(tuple(again[at : at + _FRESH_BATCH]), 1) for at in range(0, len(again), _FRESH_BATCH))
            yield from (each for each in called if job.attempt or each.as_recorded)
            return
        assert not isinstance(event, Done)
        place = int(event.stage) if event.stage.isdigit() else 0
        if len(job.rows) == 1 and job.attempt:
            yield _ended(job.rows[0], event)
            return
        self._queue.append(_Job((job.rows[place],), 2))
        for rows in (job.rows[:place], job.rows[place + 1 :]):
            if rows:
                self._queue.append(_Job(rows, job.attempt))


def _called(row: Chosen, refusal: Refusal | None) -> Called:
    return Called(row) if refusal is None else Called(row, refusal.reason, refusal.type, refusal.message)


def _ended(row: Chosen, event: Raised | Lost) -> Called:
    if isinstance(event, Raised):
        return Called(row, LIBRARY_RAISED, event.failure["type"], event.failure["message"])
    return Called(row, f"process-{event.cause}", event.detail)


RETURNED_INSTEAD = "returned"
OTHER_EXCEPTION = "other-exception"
_MESSAGE = 160


@dataclass(frozen=True)
class Share:
    """Instances of one *recorded* outcome, and of one *source* unless that is None.

    Attributes:
        source: Its name.
        recorded: The outcome.
        instances: How many were called.
        as_recorded: How many of them returned; of those recorded as `raised`, how many raised again.
        same_exception: Of those recorded as `raised`, how many raised an exception of the same type.
    """

    source: str | None
    recorded: str
    instances: int
    as_recorded: int
    same_exception: int

    @property
    def share(self) -> float:
        """The share of *as_recorded* among *instances*, 0 to 1."""
        return self.as_recorded / self.instances


@dataclass(frozen=True)
class ReplayMismatch:
    """Why *count* instances of one recorded outcome did something else; *example* is the hash of one of them."""

    recorded: str
    reason: str
    exception: str
    message: str
    count: int
    example: str
    api: str


class Replay:
    """Counts the outcomes of calls."""

    def __init__(self, sources: Mapping[str, tuple[str, ...]], exceptions: Mapping[str, str]) -> None:
        """Takes the sources of every instance, and the recorded exception types of those that raised, by hash."""
        self._sources = sources
        self._exceptions = exceptions
        self._counts: Counter[tuple[str | None, str, str]] = Counter()
        self._causes: dict[tuple[str, str, str, str], list[Called]] = {}

    def add(self, calls: Iterable[Called]) -> None:
        """Adds *calls* to the counts of their outcomes and sources."""
        for called in calls:
            same = self._is_same(called)
            for source in (None, *self._sources.get(called.chosen.id, ())):
                self._counts[source, called.chosen.outcome, "instances"] += 1
                self._counts[source, called.chosen.outcome, "as-recorded"] += called.as_recorded
                self._counts[source, called.chosen.outcome, "same"] += same
            if not called.as_recorded or (called.reason is not None and not same):
                key = (called.chosen.outcome, *self._why(called))
                self._causes.setdefault(key, []).append(called)

    def shares(self) -> list[Share]:
        """Per recorded outcome, first of all sources together, then of each."""
        groups = sorted({(outcome, source or "") for source, outcome, _ in self._counts})
        return [
            Share(source or None, outcome, *(self._counts[source or None, outcome, what] for what in ("instances", "as-recorded", "same")))
            for outcome, source in groups
        ]

    def causes(self) -> list[ReplayMismatch]:
        """The most frequent first."""
        rows = [
            ReplayMismatch(*key, count=len(calls), example=first.chosen.id, api=first.chosen.api)
            for key, calls in self._causes.items()
            for first in [min(calls, key=lambda each: each.chosen.id)]
        ]
        return sorted(rows, key=lambda row: (-row.count, row.recorded, row.reason, row.exception, row.message))

    def _is_same(self, called: Called) -> bool:
        return called.reason == LIBRARY_RAISED and called.exception == self._exceptions.get(called.chosen.id)

    def _why(self, called: Called) -> tuple[str, str, str]:
        if called.reason is None:
            return RETURNED_INSTEAD, self._exceptions.get(called.chosen.id, ""), ""
        reason = called.reason
        if called.as_recorded and called.chosen.outcome == Outcome.RAISED.value:
            reason = OTHER_EXCEPTION
        return reason, called.exception, template(called.message, limit=_MESSAGE)
