"""The opset as a part of a test: its text and identity, the plan, what is typed, what is shown, and a trigger that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import click
import pytest
from instances import node, tensor
from reporting import RESHAPE, fill, result

from opera.cli.options import Opsets
from opera.compilers.adapter import Route
from opera.difftest.judge import Judgement
from opera.difftest.runner import WARM, TestCase, TestOutcome, TestRunner
from opera.difftest.settings import Settings
from opera.difftest.test import Identity
from opera.instance import encode_instance
from opera.models.forms import InputForm, ModelForm, form_parts
from opera.oracles.verdict import Verdict
from opera.report import reproducer
from opera.report.views import InstanceView, TestView
from opera.run.plan import make_plan
from opera.store import Campaigns
from opera.store.database import open_workspace
from opera.store.reductions import StoredReduction
from opera.triage.findings import findings_in
from opera.triage.reduction.properties import View
from opera.triage.reduction.reduce import Budget, Reducer, Reduction

IDENTITY = Identity("tvm", Route("onnx", "onnx", "onnx"), "onnx/5", {"onnx": "1.23.2"}, {"tvm": "0.27"}, {"chebyshev": None}, 1)
RELU = node("Relu", 28, X=tensor([-1.0, 2.0]))
SHAPED = node("Reshape", 28, data=tensor([1.0, 2.0]), shape=tensor([2, 1], "int64"))
BOTH = (InputForm.RUNTIME, InputForm.BAKED)


def test_the_text_of_a_form_has_the_opset_and_comes_back() -> None:
    forms = [ModelForm(each, opset) for each in InputForm for opset in (None, 13, 28)]
    assert [ModelForm.parse(str(each)) for each in forms] == forms
    assert str(ModelForm(InputForm.BAKED)) == "baked"
    assert form_parts("baked@21") == ("baked", 21)


@pytest.mark.parametrize("text", ["", "raw", "baked@", "baked@x", "baked@0", "baked@-1", "baked@999", "@21", "baked@21@13"])
def test_no_other_text_is_a_form(text: str) -> None:
    with pytest.raises(ValueError, match="is not a valid InputForm"):
        ModelForm.parse(text)


def test_the_identity_of_a_test_covers_form_opset_and_revisions() -> None:
    forms = [ModelForm(InputForm.BAKED), ModelForm(InputForm.RUNTIME), ModelForm(InputForm.BAKED, 13)]
    others = [
        replace(IDENTITY, template="onnx/6"),
        replace(IDENTITY, policy={"chebyshev": None, "adapter": 2}),
        replace(IDENTITY, review=2),
    ]
    ids = [IDENTITY.test("ab", 0, each) for each in forms] + [each.test("ab", 0, forms[0]) for each in others]
    assert len(set(ids)) == len(ids)
    assert IDENTITY.artefact_key("ab", 0, forms[0]) == replace(IDENTITY, review=2).artefact_key("ab", 0, forms[0])
    assert Settings("tvm", "onnx", opsets=(13,)).campaign({}) != Settings("tvm", "onnx").campaign({})


def test_a_plan_has_every_form_at_every_opset() -> None:
    plan = make_plan([("a", RELU), ("b", SHAPED)], IDENTITY, BOTH, lambda _: True, opsets=(13, 21))
    assert [(each.instance, str(each.form)) for each in plan] == [
        ("a", "runtime@13"), ("a", "runtime@21"),
        ("b", "runtime@13"), ("b", "runtime@21"), ("b", "baked@13"), ("b", "baked@21"),
    ]  # fmt: skip
    assert len({each.id for each in plan}) == len({each.artefact_key for each in plan}) == 6
    assert len({each.reference_key for each in plan}) == 2
    assert [each.id for each in plan.part([4, 1])] == [plan[4].id, plan[1].id] == [list(plan.identities())[index][1] for index in (4, 1)]


def test_opsets_are_typed_as_a_list_in_any_order() -> None:
    assert Opsets().convert("21, 13,21", None, None) == (13, 21)


@pytest.mark.parametrize("text", ["", "0", "12", "29", "99", "x", "13,", "13;17", "-13", "1e1", "13,17,x", "٢١", "13" * 50])
def test_other_opsets_are_the_users_error_and_the_message_says_what_to_write(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"is not a list of opsets from 13 to 28; write e\.g\. 13,17,21,25"):
        Opsets().convert(text, None, None)


def test_a_test_is_shown_with_its_opset(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "ws", write=True) as space:
        fill(space)
        kept = replace(result("c1", RESHAPE, "tvm", Verdict.PASS), form="baked@21")
        Campaigns(space).write("aaaaaaaaaaaa", [(80, kept)])
        view = TestView(space, "ws", kept.test)
        document = view.document()
        assert (document["form"], document["opset"]) == ("baked", 21)
        assert {" ".join(line.split()) for line in view.lines()} >= {"input form baked", "declared opset 21"}
        assert any("baked at opset 21" in line for line in InstanceView(space, "ws", kept.instance).lines())
        plain = TestView(space, "ws", f"a5{'0' * 62}")
        assert plain.document()["opset"] is None
        assert not any("declared opset" in line for line in plain.lines())


def test_the_script_of_a_reduction_is_written_for_the_opset_to_which_it_came(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "ws", write=True) as space:
        fill(space)
        found = next(each for each in findings_in(space) if each.operators == ("ai.onnx.Reshape",))
    first = replace(found.representative, form="runtime@25")
    stored = StoredReduction(str(first.fingerprint), first.test, found.id, None, encode_instance(RESHAPE), None, {"form": "runtime@18"})
    case = reproducer.reduced(replace(found, representative=first, reduction=stored))
    assert case is not None
    assert case.result.form == "runtime@18"


class Compiler:
    """Stands for a compiler that fails at some opsets; *fails* is asked for None where a model has its own lowest one."""

    def __init__(self, fails: Callable[[int | None], bool]) -> None:
        self._fails = fails
        self.count = 0

    def run(self, trial: TestCase, wanted: frozenset[str] = frozenset(), roles: Any = WARM) -> TestOutcome:
        self.count += 1
        failing = self._fails(form_parts(trial.form)[1])
        return TestOutcome(Judgement(Verdict.CRASH if failing else Verdict.PASS), "f" if failing else None)

    def equivalent_fingerprints(self, probe: TestOutcome) -> frozenset[str]:
        return frozenset() if probe.fingerprint is None else frozenset((probe.fingerprint,))

    def roles_for(self, verdict: Verdict) -> Any:
        return WARM


def reduced(fails: Callable[[int | None], bool], form: str) -> Reduction:
    reducer = Reducer(cast(TestRunner, Compiler(fails)), "f", Verdict.CRASH, Budget())
    return reducer.reduce(RELU, form, "key", 0)


@pytest.mark.parametrize(
    ("fails", "form", "trigger", "left"),
    [
        (lambda opset: opset is not None and opset >= 18, "runtime@25", "opset≥18", "runtime@18"),
        (lambda opset: opset is not None and opset <= 16, "runtime@13", "opset≤16", "runtime@13"),
        (lambda opset: opset in (18, 19, 20), "baked@20", "opset≥18, opset≤20", "baked@18"),
        (lambda _: True, "runtime@25", "any call", "runtime"),
    ],
)
def test_the_trigger_names_the_opsets_at_which_a_call_fails(
    fails: Callable[[int | None], bool], form: str, trigger: str, left: str
) -> None:
    found = reduced(fails, form)
    assert (found.trigger.text(), found.form) == (trigger, left)


def test_a_trigger_with_an_opset_holds_for_tests_at_such_opsets_alone() -> None:
    trigger = reduced(lambda opset: opset is not None and opset >= 18, "runtime@25").trigger
    forms = ("runtime", "runtime@17", "runtime@18", "baked@25")
    assert [trigger.holds(RELU, each) for each in forms] == [False, False, True, True]
    assert [all(each.holds(View(SHAPED, form)) for each in trigger.properties) for form in forms] == [False, False, True, True]
