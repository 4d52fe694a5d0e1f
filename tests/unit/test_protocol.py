"""The steps of one differential test, without any worker."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from opera.difftest.judge import Judgement
from opera.difftest.messages import (
    CallAnswers,
    CallRecorded,
    Compared,
    Compile,
    CompilerRaised,
    Damaged,
    ExporterFailed,
    InstanceRejected,
    KeptModel,
    KeptReference,
    LibraryLost,
    Made,
    Materialise,
    Refusal,
    Review,
    Reviewed,
    Unwritable,
    from_json,
    to_json,
)  # fmt: skip
from opera.difftest.protocol import LOWEST_LEVEL, Ask, DiffTest, Event, Phase, TestState, drive
from opera.difftest.test import Test
from opera.errors import EnvironmentBroken
from opera.models.forms import InputForm, ModelForm
from opera.oracles.verdict import Stage, Verdict
from opera.workers.pool_protocol import Role
from opera.workers.process import Done, Lost

BUNDLE, MODEL, OUTPUTS = "0" * 64, "1" * 64, "2" * 64
TEST = Test(0, "t", "i", "library.api", ModelForm(InputForm.RUNTIME), "r", "a", 0)
DIFFTEST = DiffTest("fake/fake", "onnx", ("onnx", "direct"), lambda _: {"api": "library.api"}, lowest="none")
MADE = Made(KeptModel(MODEL), KeptReference(BUNDLE))
FAILURE: Any = {"type": "ValueError", "message": "no", "frames": []}
WRONG: Any = Compared({"kind": "shape", "output": 0, "expected": "(1,)", "actual": "(2,)"}, "api", OUTPUTS)
CRASH = CompilerRaised("load", FAILURE, None, "api")
DIED = Lost("signal", "SIGSEGV", "reference", "", {})


class Script:
    """Workers that answer what is written down, and note what they were asked."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[Role, str]] = []
        self.requests: list[Any] = []

    def __call__(self, step: Ask) -> Event:
        self.asked.append((step.worker, type(step.request).__name__))
        self.requests.append(step.request)
        answer = self._answers.pop(0)
        return answer if isinstance(answer, Lost) else Done(to_json(answer), {"stage": 1.0})


def run(*answers: Any, difftest: DiffTest = DIFFTEST) -> tuple[Judgement, Script]:
    script = Script(*answers)
    return drive(difftest, difftest.begin(TEST), script), script


def test_a_test_passes_after_two_requests() -> None:
    judged, script = run(MADE, Compared(None))
    assert judged.verdict is Verdict.PASS
    assert script.asked == [(Role.LIBRARY, "Materialise"), (Role.COMPILER, "Compile")]
    assert isinstance(script.requests[1], Compile)
    assert (script.requests[1].bundle, script.requests[1].model) == (BUNDLE, MODEL)


EARLIER = Judgement(Verdict.INCONSISTENT, Stage.COMPARE, converter="api", detail={"difference": WRONG.difference}, outputs=OUTPUTS)


def test_a_failure_under_another_review_is_reviewed_again_without_its_compiler() -> None:
    script = Script(Reviewed("ill-conditioned", "a rounding error"))
    found = drive(DIFFTEST, DIFFTEST.begin(TEST, KeptReference(BUNDLE), KeptModel(MODEL), EARLIER), script)
    assert (found.verdict, found.reason) == (Verdict.UNDEFINED, "ill-conditioned")
    assert script.asked == [(Role.LIBRARY, "Review")]
    assert (script.requests[0].outputs, script.requests[0].bundle, script.requests[0].model) == (OUTPUTS, BUNDLE, MODEL)


def test_a_pass_under_another_review_stays_one() -> None:
    earlier = Judgement(Verdict.PASS, seconds={"run": 1.0})
    assert DIFFTEST.begin(TEST, None, None, earlier) is earlier


def test_the_lowest_level_is_not_run_again_for_another_review() -> None:
    known: Any = {LOWEST_LEVEL: {"name": "none", "verdict": "pass", "vanishes": True}}
    earlier = replace(EARLIER, detail={**EARLIER.detail, **known})
    script = Script(Reviewed())
    found = drive(DIFFTEST, DIFFTEST.begin(TEST, KeptReference(BUNDLE), KeptModel(MODEL), earlier), script)
    assert found.verdict is Verdict.INCONSISTENT
    assert script.asked == [(Role.LIBRARY, "Review")]


def test_what_the_cache_knows_is_not_asked_again() -> None:
    state = DIFFTEST.begin(TEST, KeptReference(BUNDLE), KeptModel(MODEL))
    assert isinstance(state, TestState)
    assert state.phase is Phase.COMPILE
    half = DIFFTEST.begin(TEST, KeptReference(BUNDLE), None)
    assert isinstance(half, TestState)
    request = DIFFTEST.ask(half).request
    assert isinstance(request, Materialise)
    assert not request.with_reference
    rejected = DIFFTEST.begin(TEST, InstanceRejected("library-raised", "reference", FAILURE))
    assert isinstance(rejected, Judgement)
    assert (rejected.verdict, rejected.reason) == (Verdict.INVALID, "library-raised")


def test_a_failure_is_confirmed_in_a_fresh_process_then_reviewed_then_run_at_the_lowest_level() -> None:
    judged, script = run(MADE, WRONG, WRONG, Reviewed(), Compared(None))
    assert judged.verdict is Verdict.INCONSISTENT
    assert judged.detail[LOWEST_LEVEL] == {"name": "none", "verdict": "pass", "vanishes": True}
    assert script.asked[1:] == [
        (Role.COMPILER, "Compile"), (Role.COMPILER_FRESH, "Compile"), (Role.LIBRARY, "Review"),
        (Role.COMPILER_FRESH, "Compile"),
    ]  # fmt: skip
    review, lowest = script.requests[3:]
    assert isinstance(review, Review)
    assert review.outputs == OUTPUTS
    assert lowest.level == "none"


def test_a_hang_of_a_compiler_that_is_slow_by_design_is_no_finding() -> None:
    late = Lost("deadline", "30 s", "run", "", {})
    judged, script = run(MADE, late, difftest=replace(DIFFTEST, is_slow=True))
    assert (judged.verdict, judged.reason) == (Verdict.UNSUPPORTED, "too-slow")
    assert len(script.asked) == 2
    judged, _ = run(MADE, late, late, late)
    assert judged.verdict is Verdict.HANG


@pytest.mark.parametrize("cause", ["memory", "deadline"])
def test_a_comparison_that_takes_too_much_is_no_finding(cause: str) -> None:
    judged, _ = run(MADE, Lost(cause, "4 GiB", "compare", "", {}))
    assert (judged.verdict, judged.reason) == (Verdict.UNDEFINED, "harness-error")


def test_a_failure_that_does_not_happen_again_is_flaky() -> None:
    judged, _ = run(MADE, WRONG, Compared(None))
    assert (judged.verdict, judged.reason) == (Verdict.FLAKY, "pass in a fresh process")


def test_a_third_process_decides_between_two_failures_that_differ() -> None:
    judged, script = run(MADE, WRONG, CRASH, CRASH)
    assert judged.verdict is Verdict.CRASH
    assert [worker for worker, _ in script.asked[1:]] == [Role.COMPILER, Role.COMPILER_FRESH, Role.COMPILER_SPAWNED]
    other = replace(CRASH, failure={**FAILURE, "message": "something else altogether"})
    judged, _ = run(MADE, WRONG, CRASH, other)
    assert (judged.verdict, judged.reason) == (Verdict.FLAKY, "fails in another way each time")


def test_an_excuse_ends_a_failure_and_clears_its_exporter() -> None:
    suspected = Made(KeptModel(MODEL, suspect="torch.onnx"), KeptReference(BUNDLE))
    judged, _ = run(suspected, WRONG, WRONG, Reviewed("on-a-step", "because"))
    assert (judged.verdict, judged.reason, judged.exporter) == (Verdict.UNDEFINED, "on-a-step", None)
    assert judged.detail["excuse"] == "because"


def test_a_culprit_takes_the_blame_and_needs_no_lower_level() -> None:
    judged, script = run(MADE, WRONG, WRONG, Reviewed(culprit="torch.onnx"))
    assert (judged.verdict, judged.exporter) == (Verdict.INCONSISTENT, "torch.onnx")
    assert len(script.asked) == 4


def test_a_review_that_dies_excuses_nothing() -> None:
    judged, _ = run(MADE, WRONG, WRONG, DIED, WRONG)
    assert judged.verdict is Verdict.INCONSISTENT
    assert judged.detail[LOWEST_LEVEL]["vanishes"] is False


@pytest.mark.parametrize("confirm", [True, False])
def test_a_library_that_dies_is_asked_again_in_a_fresh_process(confirm: bool) -> None:
    difftest = replace(DIFFTEST, confirm=confirm)
    judged, script = run(DIED, MADE, Compared(None), difftest=difftest)
    assert judged.verdict is Verdict.PASS
    assert script.asked[1] == (Role.LIBRARY_FRESH, "Materialise")
    judged, _ = run(DIED, DIED, difftest=difftest)
    assert (judged.verdict, judged.reason) == (Verdict.INVALID, "library-abort")


def test_a_failed_export_is_confirmed_as_a_failure_of_a_compiler_is() -> None:
    failed = ExporterFailed("torch.onnx", FAILURE)
    judged, script = run(failed, failed)
    assert (judged.verdict, judged.exporter) == (Verdict.CRASH, "torch.onnx")
    assert script.asked[1] == (Role.LIBRARY_FRESH, "Materialise")
    judged, _ = run(failed, MADE)
    assert judged.verdict is Verdict.FLAKY


def test_damaged_files_are_made_again_and_not_for_ever() -> None:
    judged, script = run(MADE, Damaged("gone"), MADE, Compared(None))
    assert judged.verdict is Verdict.PASS
    assert script.requests[2].with_reference
    with pytest.raises(EnvironmentBroken, match="files disappear from the cache"):
        run(*[MADE, Damaged("gone")] * 4)


def test_a_cache_that_takes_no_files_ends_the_campaign() -> None:
    with pytest.raises(EnvironmentBroken, match="the cache cannot be written"):
        run(Unwritable(FAILURE))


def test_a_compiler_that_dies_before_it_reads_is_asked_again_in_a_fresh_process() -> None:
    judged, script = run(MADE, replace(DIED, stage=""), Compared(None))
    assert judged.verdict is Verdict.PASS
    assert script.asked[-1] == (Role.COMPILER_FRESH, "Compile")


def test_an_answer_to_another_request_is_no_answer() -> None:
    judged, _ = run(Reviewed(), CallAnswers([]))
    assert (judged.verdict, judged.reason) == (Verdict.INVALID, "library-abort")
    judged, _ = run(MADE, WRONG, WRONG, MADE, WRONG)
    assert judged.verdict is Verdict.INCONSISTENT


def test_without_confirmation_the_first_failure_counts() -> None:
    judged, script = run(MADE, CRASH, difftest=replace(DIFFTEST, confirm=False))
    assert judged.verdict is Verdict.CRASH
    assert len(script.asked) == 2


def test_seconds_of_both_sides_belong_to_the_test() -> None:
    judged, _ = run(MADE, WRONG, WRONG, Reviewed(), WRONG)
    assert judged.seconds == {"stage": 1.0, "review": 1.0}


@pytest.mark.parametrize(
    "message",
    [
        MADE, Made(KeptModel(None, "x")), InstanceRejected("r", "reference", FAILURE, KeptReference(BUNDLE, "random")), WRONG, CRASH,
        ExporterFailed("torch.onnx", FAILURE, None, KeptReference(BUNDLE)), LibraryLost("library-oom", "s", {"cause": "memory"}, "log"),
        CallAnswers([None, Refusal("r", "t", "m")]), CallRecorded([["{}", "k"]], 0), Reviewed("a", "b", "c"),  # type: ignore[list-item]
    ],
    ids=lambda message: type(message).__name__,
)  # fmt: skip
def test_messages_survive_json(message: Any) -> None:
    assert from_json(json.loads(json.dumps(to_json(message)))) == message


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "0" * 63, "0" * 64 + "\n", "A" * 64])
def test_no_message_names_a_file_that_is_not_a_hash(name: str) -> None:
    for build in (lambda: KeptReference(name), lambda: KeptModel(name), lambda: Compared(None, None, name)):
        with pytest.raises(ValueError, match="no name of a stored file"):
            build()
