"""Turns a worker's reply into a verdict. Pure: the same reply gives the same verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opera.compilers.exporters import converter_of_exporter
from opera.compilers.registry import noise_of
from opera.difftest.messages import Compared, CompilerRaised, ExporterFailed, InstanceRejected, LibraryLost, NotCaptured, from_json
from opera.difftest.test import Test
from opera.models.forms import InputForm
from opera.oracles.filters import may_fail
from opera.oracles.fingerprint import Symptom, summary, symptom_of
from opera.oracles.verdict import SHAPE_VARIES, Detail, DifferenceFacts, Failure, Stage, Verdict
from opera.workers.process import Done, Lost, Raised

HARNESS_ERROR = "harness-error"
"""The reason of a test that ended in OPERA's own code: nothing is known of the compiler, and OPERA has to be mended."""
_READERS = {
    ("torch.export", "load"): "torch.export",
    ("torch.jit._serialization", "load"): "trace",
    ("onnx", "load_model_from_string"): "onnx",
}
"""Functions with which a library reads what it captured, and the capture: where they raise, no compiler has seen the model."""
_VALUE_DIFFERENCES = frozenset({"values", "nan", "inf"})
"""Differences that mean nothing when the library does not agree with itself; of shapes, only where its own differ."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its grounds; the fields are those of `opera.store.StoredResult`, and where the compiler's outputs are in the cache."""

    verdict: Verdict
    stage: Stage | None = None
    reason: str | None = None
    converter: str | None = None
    detail: Detail = field(default_factory=Detail)
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    exporter: str | None = None
    outputs: str | None = None

    def symptom(self, subject: str) -> Symptom:
        """The evidence of a failure; *subject* is `compiler/frontend`, unless an exporter failed."""
        noise = noise_of(subject.partition("/")[0])
        return symptom_of(self.exporter or subject, self.verdict, self.stage, self.converter or "", self.detail, noise)


def judge_compilation(event: Done | Raised | Lost, test: Test, undefined: str | None, suspect: str | None = None) -> Judgement:
    """The verdict of a compiler's worker on *test*.

    Args:
        event: What the worker reported, or how it was lost.
        test: The test.
        undefined: Reason why the reference is not trustworthy; empty or None if it is.
        suspect: The exporter of an invalid model, or of a model that does not take the inputs; OPERA blames the exporter for every
            failure, at any stage.
    """
    operator = test.api.rsplit(".", 1)[-1]
    if isinstance(event, Lost) and event.stage == Stage.COMPARE.value and event.cause in _ENDS:  # the comparison is OPERA's own work
        detail: Detail = {"lost": {"cause": event.cause, "detail": event.detail}, "log": event.log}
        return Judgement(Verdict.UNDEFINED, Stage.COMPARE, HARNESS_ERROR, None, detail, event.seconds)
    if isinstance(event, Lost):
        return _lost(event, operator, suspect)
    if isinstance(event, Raised):
        return Judgement(Verdict.UNDEFINED, None, HARNESS_ERROR, None, {"failure": event.failure}, event.seconds)
    answer = from_json(event.result)
    if isinstance(answer, CompilerRaised):
        return _raised(answer, event.seconds, suspect)
    if isinstance(answer, NotCaptured):
        return Judgement(Verdict.INVALID, None, answer.reason, None, {"failure": answer.failure}, event.seconds)
    assert isinstance(answer, Compared)
    difference = answer.difference
    detail = {} if answer.kept is None else {"kept": answer.kept}
    if difference is None:
        if undefined is not None:
            return Judgement(Verdict.UNDEFINED, Stage.COMPARE, undefined, None, detail, event.seconds)
        return Judgement(Verdict.PASS, reason=answer.how, detail=detail, seconds=event.seconds)
    detail["difference"] = difference
    excuse = difference.get("explained") or (undefined if _says_nothing(difference["kind"], undefined) else None)
    if excuse is not None:
        return Judgement(Verdict.UNDEFINED, Stage.COMPARE, str(excuse), answer.converter, detail, event.seconds)
    return Judgement(Verdict.INCONSISTENT, Stage.COMPARE, None, answer.converter, detail, event.seconds, suspect, answer.outputs)


def _says_nothing(kind: str, undefined: str | None) -> bool:
    return kind in _VALUE_DIFFERENCES or (kind == "shape" and undefined == SHAPE_VARIES)


def _raised(answer: CompilerRaised, seconds: Mapping[str, float], suspect: str | None) -> Judgement:
    stage = Stage(answer.stage)
    detail: Detail = {"failure": answer.failure}
    if answer.unsupported is not None:
        return Judgement(Verdict.UNSUPPORTED, stage, answer.unsupported, answer.converter, detail, seconds)
    unread = next((_READERS[each] for each in _calls(answer.failure) if each in _READERS), None)
    if unread is not None:
        return Judgement(Verdict.INVALID, None, f"capture-failed:{unread}", None, detail, seconds)
    if answer.is_ours:
        return Judgement(Verdict.UNDEFINED, stage, HARNESS_ERROR, answer.converter, detail, seconds)
    return Judgement(Verdict.CRASH, stage, None, answer.converter, detail, seconds, suspect)


def _calls(failure: Failure) -> list[tuple[str, str]]:
    """Module and function of each frame, the innermost last."""
    return [(frame[0], frame[3]) for frame in failure.get("frames", ())]


def _lost(event: Lost, operator: str, suspect: str | None) -> Judgement:
    stage = _stage(event.stage)
    detail: Detail = {"lost": {"cause": event.cause, "detail": event.detail}, "log": event.log}
    verdict = failure_in(detail)
    exporter = suspect if verdict is Verdict.ABORT and stage is not None else None
    return Judgement(verdict, stage, None, operator, detail, event.seconds, exporter)


def failure_in(detail: Detail) -> Verdict:
    """The verdict of the failure that *detail* describes, before a review."""
    if "lost" in detail:
        return {"deadline": Verdict.HANG, "memory": Verdict.OOM}.get(detail["lost"]["cause"], Verdict.ABORT)
    return Verdict.INCONSISTENT if "difference" in detail else Verdict.CRASH


def _stage(name: str) -> Stage | None:
    return next((stage for stage in Stage if stage.value == name), None)


def judge_materialisation(answer: InstanceRejected | ExporterFailed | LibraryLost) -> Judgement:
    """The verdict without a model to compile: the library rejects the instance, its process ends, or an exporter fails."""
    if isinstance(answer, LibraryLost):
        return Judgement(Verdict.INVALID, None, answer.reason, None, {"lost": answer.lost, "log": answer.log})
    detail: Detail = {"failure": answer.failure}
    if isinstance(answer, InstanceRejected):
        return Judgement(Verdict.INVALID, None, answer.reason, None, detail)
    converter = converter_of_exporter(answer.exporter, answer.failure)
    if answer.unsupported is not None:
        return Judgement(Verdict.UNSUPPORTED, Stage.EXPORT, answer.unsupported, converter, detail, exporter=answer.exporter)
    return Judgement(Verdict.CRASH, Stage.EXPORT, None, converter, detail, exporter=answer.exporter)


def headline(verdict: Verdict, detail: Detail, compiler: str) -> str:
    """One line that says what went wrong on *compiler*."""
    if verdict is Verdict.INCONSISTENT:
        assert "difference" in detail
        difference = detail["difference"]
        text = f"{difference['kind']}: expected {difference['expected']}, {got(difference)} {difference['actual']}"
        share = difference.get("share")
        return f"{text} ({share:.0%} of the elements)" if isinstance(share, float) and share < 1 else text
    if "failure" in detail:
        failure = detail["failure"]
        return f"{str(failure['type']).rsplit('.', 1)[-1]}: {summary(str(failure['message']), noise_of(compiler))}"
    if "lost" not in detail:
        return "the process ended with an unknown status"
    lost = detail["lost"]
    return _ENDS.get(lost["cause"], "the process ended with {}").format(lost["detail"])


def got(difference: DifferenceFacts) -> str:
    """Where the actual part of *difference* comes from: a result, or what the compiled model says of results."""
    return "the compiled model states" if difference.get("stated") else "got"


_ENDS = {"deadline": "no answer within {}", "memory": "more than {} resident"}
"""What to say of a lost process by cause."""


_ALWAYS = {
    Verdict.INCONSISTENT: (Stage.COMPARE,),
    Verdict.CRASH: (Stage.RUN,),
    Verdict.ABORT: (Stage.OPTIMIZE, Stage.CODEGEN, Stage.RUN),
}
_COMPILING = (Stage.LOAD, Stage.OPTIMIZE, Stage.CODEGEN)
_MAY_RAISE = (Verdict.CRASH, Verdict.ABORT)


def needs_review(judgement: Judgement, test: Test) -> bool:
    """Whether the values that *test* was given may be the reason of its failure.

    What fails while it is compiled fails whatever they are, unless they are constants of the model, and such that no specification allows
    them: a compiler that computes with them is free to refuse.
    """
    if judgement.stage in _ALWAYS.get(judgement.verdict, ()):
        return True
    if judgement.verdict not in _MAY_RAISE or judgement.stage not in _COMPILING or test.form.inputs is InputForm.RUNTIME:
        return False
    return may_fail(test.api.rsplit(".", 1)[-1])
