"""Takes every test of a plan through materialiser, compiler and confirmation, and hands out results as they come.

A failure counts only after it happened in the same way in a fresh process. What a worker had not finished when the campaign stopped
has no result, and is done by the next run of the same command.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from opera.difftest.judge import Judgement, judge_compilation, judge_materialisation
from opera.difftest.model_worker import REFERENCE, REVIEW
from opera.difftest.needs_review import is_worth_a_look
from opera.difftest.tasks import Answer, Tasks, answer_of
from opera.difftest.test import Test
from opera.errors import EnvironmentBroken
from opera.oracles.verdict import Stage, Verdict
from opera.run.job import Backlog, Job
from opera.workers.kinds import Role
from opera.workers.pool_protocol import Workforce
from opera.workers.process import Done, Lost, Raised
from opera.workers.protocol import Message

AHEAD = 64
"""Tests that may be materialised and not yet compiled, unless the campaign says otherwise; twice the slots where those are more."""
MOST_REMEMBERED = 1024
"""Answers of the materialiser that are kept at hand, besides those not yet written."""
MOST_RUNS = 3
"""Runs of a failing test: the first, one in a fresh process, and one more in a newly started process where those two disagree."""
MOST_LOWERED = 3
"""Tests of one fingerprint that are run at the lowest optimisation level as well."""
LOWEST_LEVEL = "lowest_level"
"""The key of a failure's detail that says what the test came to at the lowest optimisation level."""
_SPAWNED = {Role.COMPILER_FRESH: Role.COMPILER_SPAWNED, Role.LIBRARY_FRESH: Role.LIBRARY_SPAWNED}

OnResult = Callable[[Test, Judgement], None]


class Cache:
    """What the materialiser has answered so far: the store's answers, and those not yet written. Each is asked for several times."""

    def __init__(self, stored: Callable[[str], Answer | None]) -> None:
        self._stored = stored
        self._recent: dict[str, Answer] = {}
        self.fresh: dict[str, Answer] = {}

    def get(self, key: str) -> Answer | None:
        """The answer kept under *key*."""
        answer = self._recent.get(key) or self.fresh.get(key)
        if answer is None:
            answer = self._stored(key)
            if answer is not None:
                self._remember(key, answer)
        return answer

    def put(self, key: str, answer: Answer) -> None:
        """Keeps an answer."""
        self.fresh[key] = answer
        self._remember(key, answer)

    def _remember(self, key: str, answer: Answer) -> None:
        self._recent[key] = answer
        if len(self._recent) > MOST_REMEMBERED:
            del self._recent[next(iter(self._recent))]

    def drain(self) -> list[tuple[str, Answer]]:
        """The answers that the store does not have yet; it must take them."""
        answers = list(self.fresh.items())
        self.fresh.clear()
        return answers


class Scheduler:
    """Runs a plan. Call `step` until `finished`; results go to *on_result*.

    *lowered* says of how many tests per fingerprint an earlier part of the campaign knows what they come to at the lowest level.
    """

    def __init__(
        self,
        tests: Iterable[Test],
        crew: Workforce,
        tasks: Tasks,
        cache: Cache,
        subject: str,
        slots: int,
        on_result: OnResult,
        confirm: bool = True,
        lowered: Mapping[str, int] | None = None,
        ahead: int = AHEAD,
    ) -> None:
        self._pending = Backlog(tests)
        self._ready: list[tuple[int, Job]] = []
        self._looks: deque[Job] = deque()
        self._fresh: dict[Role, deque[Job]] = {role: deque() for role in Role if role.is_fresh}
        self._crew = crew
        self._tasks = tasks
        self._cache = cache
        self._subject = subject
        self._slots = slots
        self._on_result = on_result
        self._in_progress = 0
        self._confirm = confirm
        self._lowered: Counter[str] = Counter(lowered or {})
        self._ahead = max(ahead, 2 * slots)

    @property
    def finished(self) -> bool:
        """Whether every test has its result."""
        return not (self._pending or self._ready or self._looks or self._in_progress or any(self._fresh.values()))

    def step(self) -> None:
        """Fills the free slots and handles what has happened since."""
        self._fill()
        for role, job, event in self._crew.wait():
            self._in_progress -= 1
            if role.is_library:
                self._materialised(role, job, event)
            else:
                self._compiled(role, job, event)

    def _fill(self) -> None:
        self._take_cached()
        while self._crew.free_slots > 0 and self._next():
            pass

    def _take_cached(self) -> None:
        """Moves tests whose model the cache has to the compilers' queue, in order."""
        while self._pending and len(self._ready) < self._ahead:
            job = self._pending.first()
            if job.force or not self._advance(job):
                return
            self._pending.pop()

    def _advance(self, job: Job) -> bool:
        """Whether the cache knows enough of a test to go on without the materialiser."""
        reference = self._cache.get(job.test.reference_key)
        artefact = reference if self._tasks.kind is None else self._cache.get(job.test.artefact_key)
        for answer in (artefact, reference):
            if answer is not None and answer["status"] != "ready":
                self._finish(job, judge_materialisation(answer, job.seconds))
                return True
        if reference is None or artefact is None:
            return False
        heapq.heappush(self._ready, (job.test.place, job))
        return True

    def _next(self) -> bool:
        """Starts the most urgent task; False when there is none for which a worker is ready.

        A task whose worker would have to work on another core than its own comes after all others: that core is free again in a moment.
        """
        for role, job, waiting, take in sorted(self._candidates(), key=self._may_wait):
            if self._crew.free_slots > 0 and self._crew.assign(role, job, self._message(role, job), waiting):
                self._in_progress += 1
                take()
                return True
        return False

    def _may_wait(self, candidate: tuple[Role, Job, int, Callable[[], object]]) -> bool:
        """Whether a task is better done a moment later; no more than one for each slot, as somebody else may keep the core."""
        role, _, waiting, _ = candidate
        return waiting <= self._slots and self._crew.is_away(role)

    def _candidates(self) -> Iterator[tuple[Role, Job, int, Callable[[], object]]]:
        """What could be started, the most urgent first, with the number of jobs that wait for the same role.

        Models are made while compilers work, and otherwise only when they run out.
        """
        for role, queue in self._fresh.items():
            if queue:
                yield role, queue[0], len(queue), queue.popleft
        if self._looks:
            yield Role.LIBRARY, self._looks[0], 1, self._looks.popleft
        several = max(1, self._slots // 4)
        room = len(self._ready) + self._crew.busy(Role.LIBRARY) < self._ahead
        materialise = (Role.LIBRARY, self._pending.first(), several, self._pending.pop) if self._pending and room else None
        if materialise and self._slots > 1 and not self._crew.busy(Role.LIBRARY):
            yield materialise
            materialise = None
        if self._ready:
            yield Role.COMPILER, self._ready[0][1], len(self._ready), lambda: heapq.heappop(self._ready)
        if materialise and (not self._ready or self._slots > 2):
            yield materialise

    def _message(self, role: Role, job: Job) -> Message:
        reference = self._cache.get(job.test.reference_key)
        if job.looking:
            assert reference is not None
            assert job.confirmed is not None
            return self._tasks.review(job.test, reference, self._cache.get(job.test.artefact_key) or {}, job.confirmed.outputs)
        if role.is_library:
            return self._tasks.materialise(job.test, reference=job.force or reference is None)
        assert reference is not None
        level = self._tasks.lowest if job.confirmed is not None else None
        return self._tasks.compile(job.test, reference, self._cache.get(job.test.artefact_key) or {}, level)

    def _finish(self, job: Job, judgement: Judgement) -> None:
        seconds = {**(job.seconds), **judgement.seconds}
        self._on_result(job.test, replace(judgement, seconds=seconds))

    # The library's side.

    def _materialised(self, role: Role, job: Job, event: Done | Raised | Lost) -> None:
        if job.looking:
            self._looked(job, event)
            return
        answer = answer_of(event)
        if answer["status"] == "unwritable":
            raise EnvironmentBroken(
                f"the cache cannot be written ({answer['failure']['message']}); mend that and run the same command again"
            )
        job = replace(job, seconds=dict(event.seconds), force=False)
        if answer["status"] == "lost" and role is Role.LIBRARY:
            self._fresh[Role.LIBRARY_FRESH].append(job)
            return
        if answer["status"] == "export-failed" and answer["unsupported"] is None:
            judgement = judge_materialisation(answer, event.seconds)
            if self._confirmed(job, judgement, Role.LIBRARY_FRESH):
                self._keep(job, answer)
            return
        if answer["status"] == "lost" and job.first and role is Role.LIBRARY_FRESH:
            self._fresh[Role.LIBRARY_SPAWNED].append(job)
            return
        self._keep(job, answer)
        if job.first:
            passed = answer["status"] == "ready"
            self._confirmed(job, Judgement(Verdict.PASS) if passed else judge_materialisation(answer, event.seconds), Role.LIBRARY_FRESH)
        elif not self._advance(job):  # it says that it is ready, and has not made what it was asked for
            self._finish(job, Judgement(Verdict.UNDEFINED, None, "harness-error"))

    def _keep(self, job: Job, answer: Answer) -> None:
        """Keeps an answer under the keys that it is about: a failure of an export says nothing of the reference."""
        reference = {name: answer[name] for name in ("bundle", "undefined", "origin", "structure") if name in answer}
        if reference:
            self._cache.put(job.test.reference_key, {"status": "ready", **reference})
        if answer["status"] in ("invalid", "lost") and answer["stage"] == REFERENCE:
            self._cache.put(job.test.reference_key, answer)
        elif self._tasks.kind is not None:
            self._cache.put(job.test.artefact_key, {name: value for name, value in answer.items() if name not in reference})

    # The compiler's side.

    def _compiled(self, role: Role, job: Job, event: Done | Raised | Lost) -> None:
        if isinstance(event, Done) and event.result["status"] == "damaged":
            if job.remade >= MOST_RUNS:
                raise EnvironmentBroken(f"files vanish from the cache ({event.result['reason']}); look who else writes there")
            self._pending.put_back(replace(job, force=True, first=(), remade=job.remade + 1))
            return
        if isinstance(event, Lost) and event.stage in ("", "read") and role is Role.COMPILER and not job.first:
            self._fresh[Role.COMPILER_FRESH].append(job)
            return
        reference = self._cache.get(job.test.reference_key) or {}
        artefact = self._cache.get(job.test.artefact_key) or {}
        if job.confirmed is not None:
            self._at_lowest(job, job.confirmed, judge_compilation(event, job.test, reference.get("undefined"), artefact.get("suspect")))
            return
        judgement = judge_compilation(event, job.test, reference.get("undefined"), artefact.get("suspect"))
        if job.first or (judgement.verdict.is_failure and self._confirm):
            self._confirmed(job, judgement, Role.COMPILER_FRESH)
        else:
            self._finish(job, judgement)

    def _confirmed(self, job: Job, judgement: Judgement, role: Role) -> bool:
        """Finishes *job* as a failure when a fresh process has failed in the same way, as flaky when it has not; else asks one."""
        if job.first and not judgement.verdict.is_failure:
            self._finish(job, replace(job.first[0], verdict=Verdict.FLAKY, reason=f"{judgement.verdict.value} in a fresh process"))
            return False
        if any(self._same(earlier, judgement) for earlier in job.first):
            if role.is_library or not is_worth_a_look(judgement, job.test):
                self._finish(job, judgement)
            else:
                self._looks.append(replace(job, first=(), confirmed=judgement, looking=True))
            return True
        if len(job.first) < MOST_RUNS - 1:
            self._fresh[role if not job.first else _SPAWNED[role]].append(replace(job, first=(*job.first, judgement)))
            return False
        self._finish(job, replace(judgement, verdict=Verdict.FLAKY, reason="fails in another way each time"))
        return False

    def _looked(self, job: Job, event: Done | Raised | Lost) -> None:
        """Finishes a failure that something excuses; hands any other on. A look that fails excuses nothing."""
        assert job.confirmed is not None
        spent = sum(event.seconds.values())
        job, judgement = replace(job, looking=False, seconds={**job.seconds, REVIEW: spent}), job.confirmed
        answer = event.result if isinstance(event, Done) else {}
        if answer.get("reason") is not None:
            detail = {**judgement.detail, "excuse": answer["why"]}
            self._finish(job, replace(judgement, verdict=Verdict.UNDEFINED, reason=str(answer["reason"]), exporter=None, detail=detail))
            return
        if answer.get("culprit") is not None and judgement.exporter is None:
            judgement = replace(judgement, exporter=str(answer["culprit"]))
        if self._worth_lowering(judgement):
            self._fresh[Role.COMPILER_FRESH].append(replace(job, confirmed=judgement))
        else:
            self._finish(job, judgement)

    def _worth_lowering(self, judgement: Judgement) -> bool:
        """Whether a confirmed failure is run at the lowest optimisation level as well: the first few of each kind are, past loading."""
        if self._tasks.lowest is None or judgement.exporter is not None or judgement.stage in (Stage.EXPORT, Stage.LOAD):
            return False
        fingerprint = judgement.symptom(self._subject).fingerprint
        self._lowered[fingerprint] += 1
        return self._lowered[fingerprint] <= MOST_LOWERED

    def _at_lowest(self, job: Job, confirmed: Judgement, lowest: Judgement) -> None:
        """Finishes a confirmed failure with what became of it at the lowest optimisation level."""
        level = {"name": self._tasks.lowest, "verdict": lowest.verdict.value, "vanishes": lowest.verdict is Verdict.PASS}
        self._finish(job, replace(confirmed, detail={**confirmed.detail, LOWEST_LEVEL: level}))

    def _same(self, one: Judgement, other: Judgement) -> bool:
        """Whether two runs failed in the same way. A result that is read from memory nobody wrote is another one each time."""
        return one.symptom(self._subject).fingerprint in other.symptom(self._subject).shapes
