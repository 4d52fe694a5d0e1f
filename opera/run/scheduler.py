"""Runs the tests of a plan on the workers of a pool, and hands out each result when it is there.

The steps of one test are in `opera.difftest.protocol`; the scheduler decides which test takes which worker next. A test that is unfinished
when the campaign stops has no result, and runs again with the next run of the same command.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from opera.difftest.judge import Judgement
from opera.difftest.messages import Answer, ExporterFailed, InstanceRejected, Kept, LibraryLost, Made, to_json
from opera.difftest.model_worker import REFERENCE
from opera.difftest.protocol import DiffTest, Phase, TestState, answer_of
from opera.difftest.test import Test
from opera.oracles.verdict import Verdict
from opera.workers.pool_protocol import PoolProtocol, Role
from opera.workers.protocol import Message

AHEAD = 64
"""Largest number of materialised tests before compilation, unless the campaign sets another; or twice the slots, if that is more."""
MOST_REMEMBERED = 1024
"""Largest number of the materialiser's replies in memory, in addition to unwritten ones."""
MOST_LOWERED = 3
"""Number of tests of one fingerprint that also run at the lowest optimisation level."""

OnResult = Callable[[Test, Judgement], None]


def _no_earlier(_: Test) -> None:
    """No test has an outcome under another review."""


class Backlog:
    """Gives *tests* in their order. It asks only for the next test, because the order of later tests may depend on results."""

    def __init__(self, tests: Iterable[Test]) -> None:
        self._tests = iter(tests)
        self._next: list[Test] = []

    def __bool__(self) -> bool:
        if not self._next:
            self._next.extend(islice(self._tests, 1))
        return bool(self._next)

    def first(self) -> Test:
        """The test that `pop` takes; there must be one."""
        if not self:
            raise IndexError("no test is left")
        return self._next[0]

    def pop(self) -> Test:
        """Takes the first test away."""
        test = self.first()
        self._next.clear()
        return test


class Cache:
    """The known models: stored ones, and ones that are not stored yet. The scheduler reads each several times.

    Args:
        stored: Gives what the store has under a key.
    """

    def __init__(self, stored: Callable[[str], Kept | None]) -> None:
        self._stored = stored
        self._recent: dict[str, Kept] = {}
        self._fresh: dict[str, Kept] = {}

    def get(self, key: str) -> Kept | None:
        """The stored value of *key*."""
        known = self._recent.get(key) or self._fresh.get(key)
        if known is None:
            known = self._stored(key)
            if known is not None:
                self._remember(key, known)
        return known

    def put(self, key: str, known: Kept) -> None:
        """Keeps *known* until the store takes it."""
        self._fresh[key] = self._remember(key, known)

    def _remember(self, key: str, known: Kept) -> Kept:
        self._recent[key] = known
        if len(self._recent) > MOST_REMEMBERED:
            del self._recent[next(iter(self._recent))]
        return known

    def drain(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Documents that the store does not have yet; it must take them."""
        documents: list[tuple[str, Mapping[str, Any]]] = [(key, to_json(known)) for key, known in self._fresh.items()]
        self._fresh.clear()
        return documents


class Scheduler:
    """Runs a plan. Call `step` until `finished`; results go to *on_result*.

    Args:
        tests: The tests in their order.
        pool: The workers.
        difftest: The steps of a test.
        cache: The known models.
        slots: Number of workers.
        on_result: Called with each result.
        lowered: Number of tests per fingerprint that earlier parts of the campaign ran at the lowest optimisation level.
        ahead: Largest number of materialised tests before compilation.
        earlier: The outcome of a test under another review, before that review.
    """

    def __init__(
        self,
        tests: Iterable[Test],
        pool: PoolProtocol,
        difftest: DiffTest,
        cache: Cache,
        slots: int,
        on_result: OnResult,
        lowered: Mapping[str, int] | None = None,
        ahead: int = AHEAD,
        earlier: Callable[[Test], Judgement | None] = _no_earlier,
    ) -> None:
        self._pending = Backlog(tests)
        self._ready: list[tuple[int, TestState]] = []
        self._reviews: deque[TestState] = deque()
        self._again: deque[TestState] = deque()
        self._fresh: dict[Role, deque[TestState]] = {role: deque() for role in Role if role.is_fresh}
        self._pool = pool
        self._difftest = difftest
        self._cache = cache
        self._slots = slots
        self._on_result = on_result
        self._in_progress = 0
        self._prepared: tuple[TestState | None, Message] = None, {}
        self._lowered: Counter[str] = Counter(lowered or {})
        self._ahead = max(ahead, 2 * slots)
        self._earlier = earlier

    @property
    def finished(self) -> bool:
        """Whether every test has its result."""
        return not (self._pending or self._again or self._ready or self._reviews or self._in_progress or any(self._fresh.values()))

    def step(self) -> None:
        """Fills the free slots and handles what has happened since.

        Workers hardly wait for the driver: the next request is ready before an answer comes, and goes out before the result is kept.
        """
        self._take_cached()
        self._fill()
        self._prepare()
        for _, state, event in self._pool.wait():
            self._in_progress -= 1
            after = self._difftest.answered(state, event)
            if state.phase is Phase.MODEL:
                self._keep(state, answer_of(event), after)
            judgement = self._queue(after)
            self._fill()
            if judgement is not None:
                self._on_result(state.test, judgement)

    def _fill(self) -> None:
        while self._pool.free_slots > 0 and self._next():
            pass

    def _prepare(self) -> None:
        """Makes the request for the next model to compile."""
        if self._ready:
            state = self._ready[0][1]
            self._prepared = state, self._request(state)

    def _request(self, state: TestState) -> Message:
        """The request of the next step of *state*."""
        known, request = self._prepared
        return request if known is state else to_json(self._difftest.ask(state).request)

    def _take_cached(self) -> None:
        """Moves tests whose model the cache has to the compilers' queue, in order."""
        while self._pending and len(self._ready) < self._ahead:
            state = self._begin(self._pending.first())
            if isinstance(state, TestState) and state.phase is Phase.MODEL:
                return
            test = self._pending.pop()
            judgement = self._queue(state)
            if judgement is not None:
                self._on_result(test, judgement)

    def _begin(self, test: Test) -> TestState | Judgement:
        """The first step of *test* with what the cache knows."""
        kind = self._difftest.kind
        artefact = None if kind is None else self._cache.get(test.artefact_key)
        return self._difftest.begin(test, self._cache.get(test.reference_key), artefact, self._earlier(test))

    def _queue(self, after: TestState | Judgement) -> Judgement | None:
        """Queues the next step; returns the verdict where there is none."""
        if isinstance(after, TestState) and after.phase is Phase.LOWEST and not self._worth_lowering(after):
            assert after.confirmed is not None
            after = replace(after.confirmed, seconds={**after.seconds, **after.confirmed.seconds})
        if isinstance(after, Judgement):
            return after
        if after.worker.is_fresh:
            self._fresh[after.worker].append(after)
        elif after.phase is Phase.REVIEW:
            self._reviews.append(after)
        elif after.phase is Phase.MODEL:
            self._again.append(after)
        else:
            heapq.heappush(self._ready, (after.test.place, after))
        return None

    def _worth_lowering(self, state: TestState) -> bool:
        """Whether a confirmed failure is run at the lowest optimisation level: the first few of each kind are."""
        assert state.confirmed is not None
        fingerprint = state.confirmed.symptom(self._difftest.subject).fingerprint
        self._lowered[fingerprint] += 1
        return self._lowered[fingerprint] <= MOST_LOWERED

    def _next(self) -> bool:
        """Starts the most urgent task; False if no task has a worker that is ready.

        A task whose worker would have to leave its own core comes after all others, because that core is free again soon.
        """
        candidates = list(self._candidates())
        if len(candidates) > 1:
            candidates.sort(key=self._may_wait)
        for role, state, waiting, take in candidates:
            if self._pool.free_slots > 0 and self._pool.assign(role, state, self._request(state), waiting):
                self._in_progress += 1
                take()
                return True
        return False

    def _may_wait(self, candidate: tuple[Role, TestState, int, Callable[[], object]]) -> bool:
        """Whether a task should wait a moment; at most one for each slot, because another process may keep the core."""
        role, _, waiting, _ = candidate
        return waiting <= self._slots and self._pool.is_away(role)

    def _candidates(self) -> Iterator[tuple[Role, TestState, int, Callable[[], object]]]:
        """The tasks that could start, the most urgent first, with the number of jobs that wait for the same role.

        Models are made while compilers work, or when no model is left.
        """
        for role, queue in self._fresh.items():
            if queue:
                yield role, queue[0], len(queue), queue.popleft
        if self._reviews:
            yield Role.LIBRARY, self._reviews[0], 1, self._reviews.popleft
        several = max(1, self._slots // 4)
        room = len(self._ready) + self._pool.busy(Role.LIBRARY) < self._ahead
        materialise = self._first_without_model(several) if room else None
        if materialise and self._slots > 1 and not self._pool.busy(Role.LIBRARY):
            yield materialise
            materialise = None
        if self._ready:
            yield Role.COMPILER, self._ready[0][1], len(self._ready), lambda: heapq.heappop(self._ready)
        if materialise and (not self._ready or self._slots > 2):
            yield materialise

    def _first_without_model(self, several: int) -> tuple[Role, TestState, int, Callable[[], object]] | None:
        """The next test whose model has to be made, those first whose files were damaged."""
        if self._again:
            return Role.LIBRARY, self._again[0], several, self._again.popleft
        state = self._begin(self._pending.first()) if self._pending else None
        return (Role.LIBRARY, state, several, self._pending.pop) if isinstance(state, TestState) and state.phase is Phase.MODEL else None

    def _keep(self, state: TestState, answer: Answer, after: TestState | Judgement) -> None:
        """Keeps an answer that is not tried again, under the keys that it is about: a failed export says nothing of the reference."""
        if isinstance(after, TestState) and after.phase is Phase.MODEL:
            return
        if isinstance(answer, ExporterFailed) and isinstance(after, Judgement) and after.verdict is Verdict.FLAKY:
            return
        reference = None if isinstance(answer, LibraryLost) else answer.reference
        if reference is not None:
            self._cache.put(state.test.reference_key, reference)
        if isinstance(answer, InstanceRejected | LibraryLost) and answer.stage == REFERENCE:
            self._cache.put(state.test.reference_key, answer)
        elif self._difftest.kind is not None:
            self._cache.put(state.test.artefact_key, answer.artefact if isinstance(answer, Made) else answer)
