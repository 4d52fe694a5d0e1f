"""Each ONNX test declares the lowest opset at which its model is valid and means the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from instances import node, tensor
from real_campaigns import filled, run

from opera.instance import Instance
from opera.oracles.fingerprint import NEWER_OPSET
from opera.store.database import open_workspace
from opera.templates.onnx_model import OnnxModel, OnnxTemplate
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


SHIFTS = [SHIFT, node("BitShift", 28, {"direction": "RIGHT"}, X=tensor([-4, 9], "int8"), Y=tensor([8, 9], "int8"))]


def test_a_refused_newer_opset_is_unsupported(tmp_path: Path) -> None:
    found = run(filled(tmp_path / "ws", SHIFTS), "onnxruntime", "onnx", ["onnx"], "--input-form", "runtime")
    assert {(each.verdict.value, each.reason) for _, each in found.results} == {("unsupported", NEWER_OPSET)}


def test_wrong_results_of_a_newer_opset_are_one_finding(tmp_path: Path) -> None:
    """OpenVINO loads any opset without a word; what is wrong then is not the operator."""
    modes = [node("SpaceToDepth", 28, {"blocksize": 2, "mode": "CRD"}, input=tensor(np.arange(16.0).reshape(1, 2, 2, 4)))]
    run(filled(tmp_path / "ws", [*SHIFTS, *modes]), "openvino", "onnx", ["onnx"], "--input-form", "runtime")
    with open_workspace(tmp_path / "ws", write=False) as space:
        (finding,) = findings_in(space)
    assert finding.converter == NEWER_OPSET
    assert len(finding.operators) == 2
