"""The steps of one differential test: each step is a request to a worker, or the verdict.

Pure: nothing here waits, starts or stores. Campaigns, reduction, `opera doctor` and the canary all take a test through these steps:

    MODEL     the library's worker makes the model, its inputs and the reference outputs
    COMPILE   the compiler's worker loads, compiles, runs and compares; a failure has to happen again in a fresh process
    REVIEW    the library's worker reviews a confirmed failure: an excuse ends it, and an exporter or the library may be at fault; a
              failure that another revision of the review has judged begins here
    LOWEST    the compiler's worker runs what is left at its lowest optimisation level
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from opera.compilers.exporters import declined_by_exporter
from opera.difftest.judge import HARNESS_ERROR, Judgement, judge_compilation, judge_materialisation, needs_review
from opera.difftest.messages import (
    Answer,
    Compile,
    Damaged,
    Document,
    ExporterFailed,
    InstanceRejected,
    Kept,
    KeptModel,
    KeptReference,
    LibraryLost,
    Made,
    Materialise,
    Request,
    Review,
    Reviewed,
    Unwritable,
    from_json,
)
from opera.difftest.model_worker import REFERENCE, REVIEW
from opera.difftest.test import Test
from opera.errors import EnvironmentBroken
from opera.models.forms import document_in
from opera.oracles.verdict import LevelFacts, Stage, Verdict
from opera.workers.pool_protocol import Role
from opera.workers.process import Done, Lost, Raised

Event = Done | Raised | Lost
MOST_RUNS = 3
"""Runs of a failing test: the first, one in a fresh process, and one more in a newly started process where those two disagree."""
TOO_SLOW = "too-slow"
"""The reason of a declined test for which a compiler, slow by design, needs more than the time limit."""
LOWEST_LEVEL: Final = "lowest_level"
"""The key of a failure's detail for its outcome at the lowest optimisation level."""
_SPAWNED = {Role.COMPILER_FRESH: Role.COMPILER_SPAWNED, Role.LIBRARY_FRESH: Role.LIBRARY_SPAWNED}
_FRESH = {Role.LIBRARY: Role.LIBRARY_FRESH, Role.COMPILER: Role.COMPILER_FRESH}


class Phase(enum.Enum):
    """The step of a test that a worker is asked for next."""

    MODEL = "model"
    COMPILE = "compile"
    REVIEW = "review"
    LOWEST = "lowest"


@dataclass(frozen=True)
class Ask:
    """A request for a worker."""

    worker: Role
    request: Request


@dataclass(frozen=True)
class TestState:
    """How far a test is.

    Attributes:
        test: The test.
        phase: What is done next.
        worker: Which worker does it.
        reference: Inputs and reference outputs, once they are known.
        artefact: The model, once it is known.
        failures: Judgements of the failing runs so far that a further run has to confirm, the earliest first.
        confirmed: The failure that was confirmed.
        seconds: Seconds of the library's side, by stage; those of the review stand under one name.
        remade: How often the model was made again because its files were damaged.
    """

    __test__ = False

    test: Test
    phase: Phase
    worker: Role
    reference: KeptReference | None = None
    artefact: KeptModel | None = None
    failures: tuple[Judgement, ...] = ()
    confirmed: Judgement | None = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    remade: int = 0


@dataclass(frozen=True)
class DiffTest:
    """How tests of one subject are done.

    Attributes:
        subject: `compiler/frontend`.
        kind: Kind of artefact that its route needs; None where it takes the live module.
        route: Frontend and name of the route.
        document: Gives the `instance/1` document of an instance by its hash.
        lowest: The compiler's lowest optimisation level, where the tests run at a higher one and failures are tried there too.
        computes_as: The dtypes that the compiler declares to compute as others.
        confirm: Whether a failure has to happen again in a fresh process.
        library, compiler: The workers that are asked first.
        reviewed: Whether a failure is reviewed.
        keep: Whether outputs are kept, whatever the verdict.
        is_slow: Whether the compiler declines a test that reaches its time limit.
    """

    subject: str
    kind: str | None
    route: tuple[str, str]
    document: Callable[[str], Document]
    lowest: str | None = None
    computes_as: Mapping[str, str] = field(default_factory=dict[str, str])
    confirm: bool = True
    library: Role = Role.LIBRARY
    compiler: Role = Role.COMPILER
    reviewed: Callable[[Judgement, Test], bool] = needs_review
    keep: bool = False
    is_slow: bool = False

    def begin(
        self, test: Test, reference: Kept | None = None, artefact: Kept | None = None, earlier: Judgement | None = None
    ) -> TestState | Judgement:
        """The first step of *test*.

        Args:
            test: The test.
            reference: The known inputs and reference outputs.
            artefact: The known model.
            earlier: The outcome of the compiler under another review. It is reviewed again if it is a failure that needs a review.
        """
        if earlier is not None and not self.reviewed(earlier, test):
            return earlier
        state = TestState(test, Phase.MODEL, self.library)
        if self.kind is None:
            artefact = KeptModel() if isinstance(reference, KeptReference) else reference
        for known in (artefact, reference):
            if isinstance(known, InstanceRejected | ExporterFailed | LibraryLost):
                return judge_materialisation(known)
        state = replace(
            state,
            reference=reference if isinstance(reference, KeptReference) else None,
            artefact=artefact if isinstance(artefact, KeptModel) else None,
        )
        if state.reference is None or state.artefact is None:
            return state
        if earlier is not None:
            return replace(state, phase=Phase.REVIEW, confirmed=replace(earlier, exporter=state.artefact.suspect))
        return replace(state, phase=Phase.COMPILE, worker=self.compiler)

    def ask(self, state: TestState) -> Ask:
        """The request for the next step of the test, and the worker that gets it."""
        test = state.test
        what = document_in(self.document(test.instance), test.form), test.instance, test.seed
        if state.phase is Phase.MODEL:
            again = state.reference is None or state.remade > 0
            return Ask(state.worker, Materialise(*what, self.kind, str(test.form), again))
        assert state.reference is not None
        assert state.artefact is not None
        bundle, model = state.reference.bundle, state.artefact.model
        if state.phase is Phase.REVIEW:
            assert state.confirmed is not None
            shown = self.kind, state.confirmed.outputs, bundle, model, dict(self.computes_as), needs_review(state.confirmed, test)
            return Ask(state.worker, Review(*what, *shown))
        level = self.lowest if state.phase is Phase.LOWEST else None
        return Ask(state.worker, Compile(*what, self.route, bundle, model, level, self.keep and state.phase is Phase.COMPILE))

    def answered(self, state: TestState, event: Event) -> TestState | Judgement:
        """The next step after *event*, the reply to the request that `ask` gives for *state*.

        Raises:
            EnvironmentBroken: the cache takes no files, or loses them.
        """
        if state.phase is Phase.MODEL:
            state = replace(state, seconds=dict(event.seconds))
            outcome = self._materialised(state, answer_of(event))
        elif state.phase is Phase.REVIEW:
            state = replace(state, seconds={**state.seconds, REVIEW: sum(event.seconds.values())})
            found = from_json(event.result) if isinstance(event, Done) else None
            rejected = judge_materialisation(found) if isinstance(found, InstanceRejected) else None
            outcome = rejected or self._after_review(state, found if isinstance(found, Reviewed) else Reviewed())
        else:
            outcome = self._compiled(state, event)
        return replace(outcome, seconds={**state.seconds, **outcome.seconds}) if isinstance(outcome, Judgement) else outcome

    def _materialised(self, state: TestState, answer: Answer) -> TestState | Judgement:
        if isinstance(answer, LibraryLost):
            if state.worker is Role.LIBRARY:
                return replace(state, worker=Role.LIBRARY_FRESH)
            if state.failures and state.worker is Role.LIBRARY_FRESH:
                return replace(state, worker=Role.LIBRARY_SPAWNED)
        if isinstance(answer, Made):
            if state.failures:
                return _flaky(state.failures[0], Verdict.PASS)
            reference = answer.reference or state.reference
            if reference is None:  # it says that it is done, and has not made what it was asked for
                return Judgement(Verdict.UNDEFINED, None, HARNESS_ERROR)
            return replace(state, phase=Phase.COMPILE, worker=self.compiler, reference=reference, artefact=answer.artefact)
        judgement = judge_materialisation(answer)
        failed = isinstance(answer, ExporterFailed) and answer.unsupported is None
        return self._confirmed(state, judgement) if state.failures or (failed and self.confirm) else judgement

    def _compiled(self, state: TestState, event: Event) -> TestState | Judgement:
        assert state.reference is not None
        assert state.artefact is not None
        if isinstance(event, Done) and isinstance(damaged := from_json(event.result), Damaged):
            if state.remade >= MOST_RUNS:
                raise EnvironmentBroken(f"files disappear from the cache ({damaged.reason}); check which other program writes there")
            return TestState(state.test, Phase.MODEL, self.library, seconds=state.seconds, remade=state.remade + 1)
        if isinstance(event, Lost) and event.stage in ("", "read") and state.worker is Role.COMPILER and not state.failures:
            return replace(state, worker=Role.COMPILER_FRESH)
        judgement = judge_compilation(event, state.test, state.reference.undefined, state.artefact.suspect)
        if self.is_slow and judgement.verdict is Verdict.HANG:
            judgement = replace(judgement, verdict=Verdict.UNSUPPORTED, reason=TOO_SLOW)
        if state.phase is Phase.LOWEST:
            assert state.confirmed is not None
            assert self.lowest is not None
            verdict = judgement.verdict.value
            level: LevelFacts = {"name": self.lowest, "verdict": verdict, "vanishes": judgement.verdict is Verdict.PASS}
            return replace(state.confirmed, detail={**state.confirmed.detail, LOWEST_LEVEL: level})
        if state.failures or judgement.verdict.is_failure:
            return self._confirmed(state, judgement)
        return judgement

    def _confirmed(self, state: TestState, judgement: Judgement) -> TestState | Judgement:
        """Goes on with a failure that a fresh process has shown too; asks a fresh process where none has been asked yet."""
        if state.failures and not judgement.verdict.is_failure:
            return _flaky(state.failures[0], judgement.verdict)
        if not self.confirm or any(self.is_same(earlier, judgement) for earlier in state.failures):
            if state.phase is Phase.MODEL or not self.reviewed(judgement, state.test):
                return judgement
            return replace(state, phase=Phase.REVIEW, worker=Role.LIBRARY, failures=(), confirmed=judgement)
        if len(state.failures) < MOST_RUNS - 1:
            worker = _SPAWNED.get(state.worker, state.worker) if state.failures else _FRESH.get(state.worker, state.worker)
            return replace(state, worker=worker, failures=(*state.failures, judgement))
        return replace(judgement, verdict=Verdict.FLAKY, reason="fails in another way each time")

    def _after_review(self, state: TestState, found: Reviewed) -> TestState | Judgement:
        """Ends a failure that something excuses, and goes on with any other. A review that fails excuses nothing."""
        assert state.confirmed is not None
        judgement = state.confirmed
        if found.reason is not None:
            detail = judgement.detail.copy()
            detail["excuse"] = found.why
            return replace(judgement, verdict=Verdict.UNDEFINED, reason=found.reason, exporter=None, detail=detail)
        if found.culprit is not None and judgement.exporter is None:
            judgement = replace(judgement, exporter=found.culprit)
        known = LOWEST_LEVEL in judgement.detail
        if known or self.lowest is None or judgement.exporter is not None or judgement.stage in (Stage.EXPORT, Stage.LOAD):
            return judgement
        return replace(state, phase=Phase.LOWEST, worker=Role.COMPILER_FRESH, confirmed=judgement)

    def is_same(self, one: Judgement, other: Judgement) -> bool:
        """Whether two runs failed in the same way. A result from uninitialised memory differs in each run."""
        return one.symptom(self.subject).fingerprint in other.symptom(self.subject).equivalent_fingerprints


def _flaky(first: Judgement, then: Verdict) -> Judgement:
    return replace(first, verdict=Verdict.FLAKY, reason=f"{then.value} in a fresh process")


def answer_of(event: Event) -> Answer:
    """The reply of the library's worker to `Materialise`, or the meaning of its loss.

    Raises:
        EnvironmentBroken: the cache takes no files.
    """
    if isinstance(event, Done):
        answer = from_json(event.result)
        if not isinstance(answer, Made | InstanceRejected | ExporterFailed | Unwritable):
            return LibraryLost("library-abort", REFERENCE, {"cause": "protocol", "detail": "an answer to another request"})
        if isinstance(answer, Unwritable):
            raise EnvironmentBroken(
                f"the cache cannot be written ({answer.failure['message']}); correct this, and run the same command again"
            )
        return (
            replace(answer, unsupported=declined_by_exporter(answer.exporter, answer.failure))
            if isinstance(answer, ExporterFailed)
            else answer
        )
    if isinstance(event, Raised):
        return InstanceRejected("template-error", REFERENCE, event.failure)
    reason = {"deadline": "library-hang", "memory": "library-oom"}.get(event.cause, "library-abort")
    return LibraryLost(reason, event.stage or REFERENCE, {"cause": event.cause, "detail": event.detail}, event.log)


def drive(difftest: DiffTest, state: TestState | Judgement, ask: Callable[[Ask], Event]) -> Judgement:
    """Takes a test through all its steps; *ask* waits for the answer of a worker."""
    while isinstance(state, TestState):
        state = difftest.answered(state, ask(difftest.ask(state)))
    return state
