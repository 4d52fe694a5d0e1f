"""Repairs of ONNX models: each changes a node that it is about, leaves other nodes alone, and gives what the evaluator of ONNX gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from opera.extensions.findings.repairs import onnx_model

REAL = np.array([[1.5, -2.0], [0.25, 4.0]], np.float32)
BYTES = np.array([200, 100, 7], np.uint8)
BARE = np.zeros((2, 0), np.float32)
SCALAR = np.array(2.5, np.float32)
Case = tuple[str, dict[str, Any], tuple[np.ndarray[Any, Any], ...]]
ABOUT: dict[str, list[Case]] = {
    "defaults written": [("Softmax", {}, (REAL,)), ("Gemm", {}, (REAL, REAL)), ("TopK", {}, (REAL, np.array([1])))],
    "booleans as integers": [
        ("ReduceMax", {}, (REAL > 0,)), ("Where", {}, (REAL > 0, REAL > 1, REAL > 2)), ("Equal", {}, (REAL > 0, REAL > 1)),
    ],
    "narrow integers as int64": [
        ("Neg", {}, (np.array([3, -2], np.int8),)), ("Add", {}, (BYTES, BYTES)), ("TopK", {}, (BYTES, np.array([2]))),
    ],
    "narrow integers as int32": [("Mul", {}, (BYTES, BYTES))],
    "integers as float32": [("Max", {}, (BYTES, BYTES[::-1].copy()))],
    "halves as float32": [("Relu", {}, (REAL.astype(np.float16),))],
    "doubles as float32": [("Abs", {}, (REAL.astype(np.float64),))],
    "rank 0 as rank 1": [("Softplus", {}, (SCALAR,)), ("PRelu", {}, (SCALAR, SCALAR)), ("Expand", {}, (SCALAR, np.array([2, 3])))],
    "no elements": [("Relu", {}, (BARE,)), ("ReduceSum", {"keepdims": 0}, (BARE,)), ("Concat", {"axis": 0}, (BARE, BARE))],
    "axes from the front": [("Softmax", {"axis": -2}, (REAL,)), ("Concat", {"axis": -1}, (REAL, REAL))],
}  # fmt: skip


def model_of(operator: str, attributes: dict[str, Any], inputs: tuple[np.ndarray[Any, Any], ...]) -> onnx.ModelProto:
    names = [f"x{place}" for place in range(len(inputs))]
    results = ["y", "z"] if operator == "TopK" else ["y"]
    node = helper.make_node(operator, names, results, **attributes)
    entries = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in zip(names, inputs, strict=True)
    ]
    ends = [helper.make_empty_tensor_value_info(name) for name in results]
    return helper.make_model(helper.make_graph([node], "one", entries, ends), opset_imports=[helper.make_opsetid("", 21)])


def results(model: onnx.ModelProto, inputs: tuple[np.ndarray[Any, Any], ...]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(each) for each in ReferenceEvaluator(model).run(None, {f"x{place}": each for place, each in enumerate(inputs)})]


@pytest.mark.parametrize(("name", "place"), [(name, place) for name, cases in ABOUT.items() for place in range(len(cases))])
def test_a_repaired_model_gives_what_the_evaluator_gives(name: str, place: int) -> None:
    operator, attributes, inputs = ABOUT[name][place]
    model = model_of(operator, attributes, inputs)
    repaired, changed = onnx_model.repaired(model, name)
    assert changed
    for want, got in zip(results(model, inputs), results(repaired, inputs), strict=True):
        assert (want.dtype, want.shape) == (got.dtype, got.shape)
        np.testing.assert_array_equal(want, got)


@pytest.mark.parametrize("name", onnx_model.NAMES)
def test_every_repair_is_shown_by_a_node_and_leaves_an_ordinary_one_alone(name: str) -> None:
    assert ABOUT[name]
    model = model_of("Exp", {}, (REAL,))
    repaired, changed = onnx_model.repaired(model, name)
    assert changed == 0
    assert repaired == model


def test_an_operator_of_a_foreign_domain_is_left_alone() -> None:
    node = helper.make_node("Mystery", ["x0"], ["y"], domain="some.where")
    entry = helper.make_tensor_value_info("x0", onnx.TensorProto.INT8, [])
    graph = helper.make_graph([node], "one", [entry], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("some.where", 1)])
    assert [onnx_model.repaired(model, name)[1] for name in onnx_model.NAMES] == [0] * len(onnx_model.NAMES)
