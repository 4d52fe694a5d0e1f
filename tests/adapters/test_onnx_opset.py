"""Each ONNX test declares the lowest opset at which its model is valid and means the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from checkout import ROOT
from instances import node, tensor
from onnx.reference import ReferenceEvaluator
from real_campaigns import filled, opera, run

from opera.instance import Argument, Instance, Kind
from opera.models.opsets import NEWEST
from opera.models.template import Invalid
from opera.oracles.fingerprint import NEWER_OPSET
from opera.oracles.verdict import Verdict
from opera.store.database import open_workspace
from opera.templates.onnx.model import OnnxModel, OnnxTemplate
from opera.templates.onnx.opset import NOT_AT_OPSET
from opera.triage.findings import findings_in

X = tensor([[1.5, -2.0], [0.25, 3.0]])
BYTES = tensor([4, 9], "uint8")
SMALL = tensor([4, 9], "int8")
SHIFT = node("BitShift", 28, {"direction": "LEFT"}, X=SMALL, Y=tensor([1, 2], "int8"))


def model_of(instance: Instance) -> OnnxModel:
    made = OnnxTemplate().build(instance, "key", 0)
    assert isinstance(made, OnnxModel)
    return made


def opset(instance: Instance) -> int:
    model = model_of(instance).proto
    onnx.checker.check_model(model, full_check=True)
    (entry,) = model.opset_import
    return entry.version


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (node("Relu", 28, X=X), 14),
        (node("Relu", 13, X=X), 13),
        (node("Relu", 7, X=X), 7),
        (node("Sigmoid", 28, X=X), 13),
        (node("Cast", 28, {"to": 10}, input=X), 25),
        (node("Mod", 28, A=BYTES, B=tensor([3, 4], "uint8")), 13),
        (node("Mod", 28, A=X, B=X), 28),
        (node("Mod", 28, {"fmod": 1}, A=X, B=X), 13),
        (node("BitShift", 28, {"direction": "LEFT"}, X=BYTES, Y=tensor([1, 2], "uint8")), 13),
        (node("BitShift", 28, {"direction": "LEFT"}, X=BYTES, Y=tensor([1, 8], "uint8")), 28),
        (SHIFT, 28),
    ],
)
def test_a_model_declares_the_lowest_opset_at_which_it_means_the_same(instance: Instance, expected: int) -> None:
    assert opset(instance) == expected


def test_a_model_at_a_lower_opset_gives_the_same_outputs() -> None:
    cast = node("Cast", 28, {"to": 10}, input=X)
    (lower,) = model_of(cast).run_once()
    assert np.array_equal(lower, np.frombuffer(X.data or b"", "float32").reshape(X.shape).astype("float16"))


def test_a_script_declares_the_opset_that_the_test_had() -> None:
    assert 'helper.make_opsetid("", 14)' in model_of(node("Relu", 28, X=X)).source("runtime").text


def at(instance: Instance, form: str) -> Any:
    return onnx.load_model_from_string(model_of(instance).artefact("onnx", form).data)


GRID = node("GridSample", 16, {"mode": "bilinear"}, X=tensor(np.ones((1, 1, 2, 2))), grid=tensor(np.zeros((1, 1, 1, 2))))
SUM = node("ReduceMax", 13, {"axes": [1]}, data=X)


@pytest.mark.parametrize(
    ("instance", "opset"),
    [
        (node("Sigmoid", 28, X=X), 25),
        (node("Relu", 28, X=X), 21),
        (node("Identity", 28, input=X), 13),
        (node("Cast", 28, {"to": 10}, input=X), 17),
        (node("Softmax", 28, {"axis": 1}, input=X), 26),
    ],
)
def test_a_model_declares_the_opset_that_is_asked_for_and_computes_the_same(instance: Instance, opset: int) -> None:
    made = at(instance, f"runtime@{opset}")
    onnx.checker.check_model(made, full_check=True)
    assert [each.version for each in made.opset_import] == [opset]
    (own,), (other,) = (
        model_of(instance).run_once(),
        ReferenceEvaluator(made).run(None, {made.graph.input[0].name: np.frombuffer(X.data or b"", "float32").reshape(2, 2)}),
    )
    assert np.array_equal(own, other)


@pytest.mark.parametrize(
    ("instance", "opset", "why"),
    [
        (node("Gelu", 28, X=X), 17, "Gelu does not exist"),
        (node("Shape", 15, {"start": 1}, data=X), 13, "start"),
        (SUM, 18, "axes"),
        (node("Pad", 19, {"mode": "wrap"}, data=X, pads=tensor([0, 0, 1, 1], "int64")), 17, "mode='wrap'"),
        (
            node("RoiAlign", 16, X=tensor(np.ones((1, 1, 4, 4))), rois=tensor([[0, 0, 2, 2]]), batch_indices=tensor([0], "int64")),
            13,
            "another way",
        ),
        (GRID, 20, "GridSample in another way"),
        (node("Mod", 28, A=X, B=X), 13, ""),
        (SHIFT, 25, ""),
    ],
)
def test_there_is_no_test_at_an_opset_at_which_a_model_is_invalid_or_means_something_else(instance: Instance, opset: int, why: str) -> None:
    with pytest.raises(Invalid, match=NOT_AT_OPSET) as refused:
        at(instance, f"runtime@{opset}")
    assert why in str(refused.value.__cause__)


def test_an_operator_of_another_domain_has_no_opset_of_the_default_one() -> None:
    other = Instance("onnx", "ai.onnx.ml.Binarizer", Kind.NODE, call=(Argument("X", X),), context=(("opset", 1), ("outputs", [True])))
    with pytest.raises(Invalid, match=NOT_AT_OPSET):
        at(other, "runtime@21")


def test_constants_are_baked_in_at_the_opset_that_is_asked_for() -> None:
    made = at(node("Reshape", 28, data=X, shape=tensor([4], "int64")), "baked@19")
    assert ([each.version for each in made.opset_import], [each.name for each in made.graph.initializer]) == ([19], ["shape"])


def test_the_newest_opset_is_that_of_the_facts_and_of_onnx() -> None:
    facts = json.loads((ROOT / "data" / "facts" / "onnx_signatures.json").read_text(encoding="utf-8"))
    recorded = max(max(each["versions"]) for each in facts["operators"].values() if each["domain"] == "ai.onnx")
    assert recorded <= NEWEST == onnx.defs.onnx_opset_version()


@pytest.mark.parametrize("compiler", ["onnxruntime", "openvino"])
def test_a_campaign_runs_each_instance_at_every_opset_at_which_it_is_valid(tmp_path: Path, compiler: str) -> None:
    instances = [node("Relu", 28, X=X), node("Reshape", 28, data=X, shape=tensor([4], "int64")), node("Gelu", 28, X=X)]
    workspace = filled(tmp_path / "ws", instances)
    found = run(workspace, compiler, "onnx", [], "--opset", "13,21")
    verdicts = {(api, each.form, each.verdict.value) for api, each in found.results}
    assert verdicts == {
        ("ai.onnx.Relu", "runtime@13", "pass"),
        ("ai.onnx.Relu", "runtime@21", "pass"),
        *(("ai.onnx.Reshape", f"{form}@{opset}", "pass") for form in ("runtime", "baked") for opset in (13, 21)),
        ("ai.onnx.Gelu", "runtime@13", "invalid"),
        ("ai.onnx.Gelu", "runtime@21", "pass"),
    }
    assert {each.reason for _, each in found.results if each.verdict is Verdict.INVALID} == {NOT_AT_OPSET}
    plain = run(workspace, compiler, "onnx", [], "--input-form", "runtime")
    assert not {each.test for _, each in plain.results} & {each.test for _, each in found.results}
    test = next(each.test for api, each in found.results if (api, each.form) == ("ai.onnx.Reshape", "baked@21"))
    shown = opera("show", test, workspace=workspace)
    assert (shown["form"], shown["opset"]) == ("baked", 21)


@pytest.mark.parametrize(
    ("instance", "expected"),
    [
        (node("Relu", 14, X=X), 8),
        (node("Cast", 13, {"to": onnx.TensorProto.DOUBLE}, input=X), 8),
        (node("Cast", 19, {"to": onnx.TensorProto.FLOAT8E5M2}, input=X), 9),
        (node("Cast", 21, {"to": onnx.TensorProto.INT4}, input=X), 10),
        (node("RMSNormalization", 23, X=X, scale=tensor([1.0, 1.0])), 11),
    ],
)
def test_a_model_declares_the_oldest_format_that_has_its_opset_and_dtypes(instance: Instance, expected: int) -> None:
    model = model_of(instance).proto
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == expected


SHIFTS = [SHIFT, node("BitShift", 28, {"direction": "RIGHT"}, X=tensor([-4, 9], "int8"), Y=tensor([8, 9], "int8"))]


def test_onnx_runtime_is_held_to_the_newest_opset_that_it_says_to_load(tmp_path: Path) -> None:
    found = run(filled(tmp_path / "ws", SHIFTS), "onnxruntime", "onnx", ["onnx"], "--input-form", "runtime")
    assert {each.verdict for _, each in found.results} == {Verdict.PASS}


def test_wrong_results_of_a_newer_opset_are_one_finding(tmp_path: Path) -> None:
    """OpenVINO loads any opset without a word; what is wrong then is not the operator."""
    modes = [node("SpaceToDepth", 28, {"blocksize": 2, "mode": "CRD"}, input=tensor(np.arange(16.0).reshape(1, 2, 2, 4)))]
    run(filled(tmp_path / "ws", [*SHIFTS, *modes]), "openvino", "onnx", ["onnx"], "--input-form", "runtime")
    with open_workspace(tmp_path / "ws", write=False) as space:
        (finding,) = findings_in(space)
    assert finding.converter == NEWER_OPSET
    assert len(finding.operators) == 2
