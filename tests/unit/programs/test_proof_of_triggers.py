"""What shows that a trigger is the condition of a failure, and what reports say of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from instances import tensor
from reporting import RESHAPE, fill, relu, result

from opera.extensions.programs.generate import ProgramGenerator
from opera.extensions.programs.instances import instance_of, operators_in_instance
from opera.extensions.programs.languages import operators_in
from opera.extensions.programs.policy import Policy
from opera.instance import Argument, Instance, Kind, Occurrence, encode_instance
from opera.oracles.verdict import Stage, Verdict
from opera.report import details
from opera.report.details import reduced_lines, siblings
from opera.report.words import page_of, proof_lines, sentences
from opera.store import Campaigns, Corpus, Workspace, queries
from opera.store.database import open_workspace
from opera.store.reductions import StoredReduction
from opera.triage.findings import Finding, findings_in
from opera.triage.reduction.properties import Property, View
from opera.triage.reduction.trigger import Neighbours, prove

NEGATIVE, STRIDE = Property("element", "x", "<", 0), Property("value", "stride", ">", 1)


def pool(value: float, stride: int) -> View:
    call = (Argument("x", tensor([value])), Argument("stride", stride))
    return View(Instance("onnx", "ai.onnx.MaxPool", Kind.NODE, call=call), "runtime")


def test_each_property_is_shown_by_a_call_that_lacks_it_alone() -> None:
    passing = [pool(1.0, 1), pool(-1.0, 1), pool(2.0, 1)]
    proof = prove(
        (NEGATIVE, STRIDE), pool(-3.0, 2), passing, Neighbours([pool(1.0, 2)], {"alike": pool(-3.0, 3), "other": pool(3.0, 3)}), 0
    )
    shown = {name: (each.call[0].value, each.call[1].value) for name, each in proof.passes.items()}
    assert shown == {"x has a value <0": (tensor([1.0]), 2), "stride>1": (tensor([-1.0]), 1)}
    assert (proof.fails, proof.against) == (("alike",), 0)


def test_a_recorded_test_with_the_trigger_that_passes_speaks_against_it() -> None:
    proof = prove((NEGATIVE,), pool(-3.0, 1), [pool(1.0, 1)], Neighbours([pool(-1.0, 1), pool(-2.0, 2), pool(1.0, 1)]), 2)
    assert (proof.against, proof.fails, proof.untried) == (2, (), 2)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Workspace]:
    with open_workspace(tmp_path / "ws", write=True) as opened:
        fill(opened)
        yield opened


def test_neighbours_are_the_tests_of_the_operator_in_the_same_campaigns(space: Workspace) -> None:
    failing, passing = relu(1), relu(7)
    Corpus(space).add([(passing, Occurrence("onnx-node", "relu"))])
    first = next(
        each for each in Campaigns(space).results(failures=True) if each.instance == result("x", failing, "tvm", Verdict.PASS).instance
    )
    other = result("e1", passing, first.compiler, Verdict.PASS)
    Campaigns(space).write("aaaaaaaaaaaa", [(70, other)])
    Campaigns(space).begin("f" * 12, first.compiler, "onnx", {}, {})
    Campaigns(space).write("f" * 12, [(0, result("f1", passing, first.compiler, Verdict.PASS))])
    found = queries.neighbours(space, first.test, "ai.onnx.Relu", 10)
    assert other.test in {each.test for each in found}
    assert not {first.test, f"{'f1'}{'0' * 64}"[:64]} & {each.test for each in found}
    assert queries.neighbours(space, first.test, "ai.onnx.Reshape", 0) == []


def finding_with(finding: Finding, instance: Instance, *properties: list[Any], **detail: Any) -> Finding:
    trigger: Any = {"properties": list(properties), "api": instance.api, "tensors": ["data", "shape"]}
    first = finding.representative
    stored = StoredReduction(str(first.fingerprint), first.test, finding.id, None, encode_instance(instance), trigger, detail)  # type: ignore[arg-type]
    return replace(finding, reduction=stored)


def reshape(space: Workspace) -> Finding:
    return next(each for each in findings_in(space) if each.operators == ("ai.onnx.Reshape",))


def test_a_proof_says_what_is_shown_and_what_is_not(space: Workspace) -> None:
    properties = ["value", "allowzero", ">", 0], ["rank", "data", "=", 2]
    facts = {"passes": {"allowzero>0": "ai.onnx.Reshape(data=float32[2,3])"}, "fails": ["c" * 64], "against": 1, "untried": 2}
    found = finding_with(reshape(space), RESHAPE, *properties, **facts)
    assert proof_lines(found) == (
        "without allowzero>0 it passes: ai.onnx.Reshape(data=float32[2,3])",
        "no call shows that it needs rank(data)=2",
        "cccccccccccc fails with it, too",
        "1 recorded test passes with it, so a part of the condition is unknown",
        "the budget ended before 2 parts of the call changed",
    )
    assert sentences(found)[1] == "Without `allowzero>0` it passes: `ai.onnx.Reshape(data=float32[2,3])`"
    assert proof_lines(finding_with(reshape(space), RESHAPE, *properties)) == ()
    assert proof_lines(finding_with(reshape(space), RESHAPE, against=0)) == ("no other recorded test fails with any call",)


def test_siblings_fail_alike_under_the_same_condition_of_tensors_by_place(space: Workspace) -> None:
    one = finding_with(reshape(space), RESHAPE, ["rank", "data", "=", 0])
    squeeze = replace(RESHAPE, api="ai.onnx.Squeeze")
    other = replace(finding_with(reshape(space), squeeze, ["rank", "data", "=", 0]), id="0" * 16)
    unlike = replace(finding_with(reshape(space), squeeze, ["rank", "shape", "=", 0]), id="1" * 16)
    crashing = replace(other, verdict=Verdict.CRASH, stage=Stage.LOAD, id="2" * 16)
    unknown = replace(finding_with(reshape(space), squeeze), id="3" * 16)
    assert siblings(one, [one, other, unlike, crashing, unknown]) == [other]
    assert siblings(unknown, [one, other, unknown]) == []
    assert details.title(other).startswith("Squeeze: wrong shape when data has rank 0")


@pytest.mark.parametrize(
    ("library", "api", "page"),
    [
        ("onnx", "ai.onnx.Resize", "https://onnx.ai/onnx/operators/onnx__Resize.html"),
        ("onnx", "ai.onnx.ml.Scaler", "https://onnx.ai/onnx/operators/onnx_aionnxml_Scaler.html"),
        ("pytorch", "torch.nn.functional.gelu", "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html"),
        ("pytorch", "torch.special.erf", "https://docs.pytorch.org/docs/stable/special.html#torch.special.erf"),
        ("keras", "keras.layers.Dense", "https://www.tensorflow.org/api_docs/python/tf/keras/layers/Dense"),
        ("stablehlo", "stablehlo.add", "https://openxla.org/stablehlo/spec#add"),
        ("pytorch", "torch.ops.aten.add", None),
        ("pytorch", "torch._C._nn.pad", None),
        ("onnx", "x](http://example.org", None),
    ],
)
def test_an_operator_has_a_page_of_its_specification(library: str, api: str, page: str | None) -> None:
    assert page_of(library, api) == page


def test_a_finding_of_programs_is_named_by_its_operators_and_prints_its_program(space: Workspace) -> None:
    generated = ProgramGenerator(Policy(operators=3), operators_in("onnx")).generate(3)
    program = instance_of(generated, "onnx")
    found = finding_with(reshape(space), program)
    operators = operators_in_instance(program)
    assert operators
    assert details.title(found).startswith(f"program of {' + '.join(operators[:4])}")
    lines = reduced_lines(found)
    assert lines[0].startswith("opera.program(")
    shown = "\n".join(lines)
    assert all(each in shown for each in (*operators, "main("))


def test_a_finding_of_programs_that_was_not_reduced_says_that_it_is_one(space: Workspace) -> None:
    found = reshape(space)
    for api, name in (("opera.program", "program"), ("opera.ill_typed", "ill-typed program")):
        assert details.title(replace(found, operators=(api,), reduction=None)).startswith(f"{name}: ")
