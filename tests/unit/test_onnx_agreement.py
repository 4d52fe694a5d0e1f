"""Whose fault a model is that an exporter made: what ONNX's own evaluator says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper

from opera.templates.onnx_agreement import agrees


def model(node: Any, *shapes: list[int], output: list[int], domain: str = "") -> Any:
    entries = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in zip("xy", shapes, strict=False)]
    results = [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, output)]
    return helper.make_model(helper.make_graph([node], "one", entries, results), opset_imports=[helper.make_opsetid(domain, 18)])


def says(proto: Any, values: Any, expected: Any) -> bool:
    return agrees(proto, [("x", np.asarray(values, "float32"))], lambda: [np.asarray(expected, "float32")])


def test_the_evaluators_result_decides() -> None:
    double = model(helper.make_node("Add", ["x", "x"], ["z"]), [2], output=[2])
    assert says(double, [1, 2], [2, 4])
    assert not says(double, [1, 2], [1, 2])


def test_a_model_on_which_the_evaluator_raises_is_suspect() -> None:
    two = model(helper.make_node("Squeeze", ["x"], ["z"]), [2], output=[2])
    two.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0], "int64"), "axes"))
    two.graph.node[0].input.append("axes")
    assert not says(two, [1, 2], [1, 2])


def test_an_operator_that_the_evaluator_lacks_is_no_objection() -> None:
    foreign = model(helper.make_node("Fused", ["x"], ["z"], domain="com.example"), [2], output=[2], domain="com.example")
    assert says(foreign, [1, 2], [1, 2])
