"""The signature oracle: what a compiled model states of its outputs has to be what the library gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opera import bundle
from opera.arrays import Outputs, Signature, dtype_name
from opera.compilers.adapter import Adapter, Route, Stage, Subject
from opera.difftest.compiler_worker import CompilerWorker
from opera.difftest.judge import headline, judge_compilation
from opera.difftest.messages import BUILDS_ONLY, NOTHING_COMPARED, SAME_SIGNATURE, Compile, to_json
from opera.difftest.test import Test
from opera.instance import Instance, encode_instance
from opera.instance.kinds import Kind
from opera.models.forms import InputForm, ModelForm
from opera.oracles.compare import Policy, as_stated, compare
from opera.oracles.fingerprint import NO_NOISE, symptom_of
from opera.oracles.verdict import Detail, Verdict
from opera.report.terminal import accepted_line, meaning_of
from opera.report.words import symptom_words
from opera.workers.child import Stages
from opera.workers.process import Done

DTYPES = ("float32", "float64", "int64", "uint8", "bool")
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
ARRAYS = st.builds(lambda dtype, shape: np.ones(shape, dtype), st.sampled_from(DTYPES), SHAPES)
PLAIN = Policy({})


def true_signature(outputs: Sequence[Any]) -> list[tuple[str | None, tuple[int | None, ...] | None]]:
    return [(dtype_name(each.dtype), each.shape) for each in outputs]


@given(st.lists(ARRAYS, max_size=4), st.data())
def test_what_is_true_or_not_stated_is_no_difference(outputs: list[Any], data: st.DataObject) -> None:
    stated: list[Any] = []
    for dtype, shape in true_signature(outputs):
        sizes = None if shape is None else tuple(data.draw(st.sampled_from([size, None])) for size in shape)
        stated.append((data.draw(st.sampled_from([dtype, None])), data.draw(st.sampled_from([sizes, None]))))
    assert all(one is other for one, other in zip(outputs, as_stated(outputs, stated), strict=True))


@given(st.lists(ARRAYS, min_size=1, max_size=3), st.data())
def test_each_wrong_part_is_the_difference_that_a_result_of_that_kind_would_be(outputs: list[Any], data: st.DataObject) -> None:
    stated: list[Any] = true_signature(outputs)
    place = data.draw(st.integers(0, len(outputs) - 1))
    dtype, shape = stated[place]
    kind = data.draw(st.sampled_from(["dtype", "shape", "rank", "count"]))
    if kind == "count":
        stated = [*stated, (None, None)] if data.draw(st.booleans()) else stated[:-1]
    elif kind == "dtype":
        stated[place] = data.draw(st.sampled_from([each for each in DTYPES if each != dtype])), shape
    elif kind == "rank" or not shape:
        stated[place] = dtype, (*shape, data.draw(st.sampled_from([None, 1, 5])))
    else:
        stated[place] = dtype, (shape[0] + 1, *shape[1:])
    difference = compare(outputs, None, as_stated(outputs, stated), PLAIN)
    assert difference is not None
    assert difference.kind == {"rank": "shape"}.get(kind, kind)


def test_a_huge_stated_shape_takes_no_memory() -> None:
    (one,) = as_stated([np.ones(2, np.float32)], [(None, (2**40, 2**20))])
    assert isinstance(one, np.ndarray)
    assert one.strides == (0, 0)


# The worker.


class Stating(Adapter):
    """Gives what the library gives, and states what `states` says."""

    name = "stating"
    routes = (Route("onnx", "onnx", "text"), Route("onnx", "round-trip", "text", compares=False))
    packages = ()
    computes_as = {"float32": "float16"}
    ran = 0
    states: Signature | None = None
    gives: Outputs = ()
    reason = ""

    def start(self) -> Mapping[str, str]:
        self.builds_only = self.reason
        return {"stating": "1"}

    def load(self, subject: Subject, stage: Stage) -> Any:
        return subject

    def compile(self, loaded: Any, subject: Subject, stage: Stage) -> Any:
        stage("codegen")
        return loaded

    def signature(self, compiled: Any, subject: Subject) -> Signature | None:
        return self.states

    def run(self, compiled: Any, subject: Subject, stage: Stage) -> Outputs:
        type(self).ran += 1
        return self.gives

    def converter(self, subject: Subject, failure: Any) -> str:
        return "Relu"


EXPECTED = np.ones((2, 3), np.float32)
INSTANCE = json.dumps(encode_instance(Instance("pytorch", "torch.relu", Kind.FUNCTION)))


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Judges a test on the adapter that states and gives what is said."""
    module = ModuleType("stating")
    module.Stating = Stating  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stating", module)
    options = {"adapter": "stating:Stating", "cache": str(tmp_path), "decomposes": False, "builds": [], "templates": {}}
    name = bundle.store(tmp_path, bundle.dump({"inputs": {"x": EXPECTED}, "outputs": [EXPECTED], "precise": None}))
    model = bundle.store(tmp_path, b"model")

    def judge(states: Signature | None, gives: Outputs = (EXPECTED,), reason: str = "", route: str = "onnx") -> Any:
        monkeypatch.setattr(Stating, "states", states)
        monkeypatch.setattr(Stating, "gives", gives)
        monkeypatch.setattr(Stating, "reason", reason)
        monkeypatch.setattr(Stating, "ran", 0)
        worker = CompilerWorker(options)
        ready = worker.ready()
        assert (ready["versions"].items() >= BUILDS_ONLY.items()) is bool(reason)
        assert any(reason in each for each in ready["remarks"]) is bool(reason)
        request = Compile(INSTANCE, "key", 0, ("onnx", route), name, model, None)
        answer = worker.handle(to_json(request), Stages(lambda _: None))
        return judge_compilation(Done(answer, {}), Test(0, "i", "i", "ai.onnx.Relu", ModelForm(InputForm.RUNTIME), "r", "a", 0), None)

    return judge


TRUE = [("float32", (2, 3))]
WRONG = [("float32", (3, 3))]


def test_a_model_that_runs_rightly_and_states_another_shape_is_inconsistent(judged: Callable[..., Any]) -> None:
    result = judged(WRONG)
    assert result.verdict is Verdict.INCONSISTENT
    assert Stating.ran == 1
    assert headline(result.verdict, result.detail, "stating") == "shape: expected [2, 3], the compiled model states [3, 3]"
    given = judged(TRUE, gives=[np.ones((3, 3), np.float32)])
    assert headline(given.verdict, given.detail, "stating") == "shape: expected [2, 3], got [3, 3]"
    one, other = (symptom_of("s/onnx", each.verdict, each.stage, "Relu", each.detail, NO_NOISE) for each in (result, given))
    assert one.fingerprint != other.fingerprint


def test_a_wrong_result_counts_before_a_wrong_signature(judged: Callable[..., Any]) -> None:
    result = judged(WRONG, gives=[EXPECTED + 1])
    assert result.detail["difference"]["kind"] == "values"
    assert "stated" not in result.detail["difference"]


def test_where_nothing_runs_only_the_signature_is_compared_and_the_pass_says_so(judged: Callable[..., Any]) -> None:
    result = judged(TRUE, gives=[EXPECTED + 1], reason="no card")
    assert (result.verdict, result.reason, Stating.ran) == (Verdict.PASS, SAME_SIGNATURE, 0)
    assert judged(WRONG, reason="no card").verdict is Verdict.INCONSISTENT
    assert judged(None, reason="no card").reason == NOTHING_COMPARED
    assert judged(None, route="round-trip").reason == NOTHING_COMPARED
    assert judged(WRONG, route="round-trip").verdict is Verdict.INCONSISTENT
    assert Stating.ran == 0


def test_a_dtype_that_the_compiler_declares_to_compute_as_another_is_no_difference(judged: Callable[..., Any]) -> None:
    assert judged([("float64", (2, 3))], reason="no card").verdict is Verdict.INCONSISTENT
    assert judged([("float16", (2, 3))], reason="no card").verdict is Verdict.PASS
    assert judged([("float16", (2, 4))], reason="no card").verdict is Verdict.INCONSISTENT


def test_reports_say_same_signature_and_not_same_result() -> None:
    assert meaning_of(Verdict.PASS, 3, {SAME_SIGNATURE: 3}).startswith("same signature")
    assert meaning_of(Verdict.PASS, 3, {SAME_SIGNATURE: 2}) == Verdict.PASS.meaning
    assert meaning_of(Verdict.CRASH, 3, {SAME_SIGNATURE: 3}) == Verdict.CRASH.meaning
    assert "only the signature was compared" in accepted_line(3, SAME_SIGNATURE)


def test_a_title_says_that_the_compiled_model_only_states_it() -> None:
    facts = {"kind": "shape", "output": 0, "expected": "[3, 3]", "actual": "[6, 3]"}
    assert symptom_words(Verdict.INCONSISTENT, cast(Detail, {"difference": facts})) == "wrong shape"
    assert symptom_words(Verdict.INCONSISTENT, cast(Detail, {"difference": {**facts, "stated": True}})) == "states a wrong shape"
