"""ONNX graphs of several nodes: what is rounded between the nodes is no fault of a compiler that rounds less."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from opera.instance import Argument, Graph, Instance, Kind, Tensor
from opera.oracles.review import Case, review
from opera.templates.onnx.model import OnnxModel, OnnxTemplate


def instance(nodes: list[onnx.NodeProto], value: np.ndarray, output: int, constants: dict[str, np.ndarray] | None = None) -> Instance:
    """A graph from the input `x` to the output `y`, of ONNX's element type *output*."""
    dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", dtype, value.shape)], [helper.make_tensor_value_info("y", output, value.shape)],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )  # fmt: skip
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)]).SerializeToString()
    tensor = Tensor(value.shape, str(value.dtype), value.tobytes())
    return Instance(
        "onnx", "test.Graph", Kind.GRAPH, call=(Argument("x", tensor),), context=(("graph", Graph("onnx.ModelProto", data)), ("opset", 14))
    )


def reason(found: Instance, actual: np.ndarray) -> str | None:
    """What excuses a compiler that gives *actual*."""
    model = OnnxTemplate().build(found, "k", 0)
    assert isinstance(model, OnnxModel)
    excuse = review(Case(found, [value for _, value in model.inputs], model.reference().outputs, [actual], model.nearby))
    return None if excuse is None else excuse.reason


@pytest.fixture
def root() -> Instance:
    """The square root of a constant in half precision, cast to double precision: 1 where it is rounded in between, else 1.000488."""
    nodes = [
        helper.make_node("Max", ["x", "c"], ["m"]),
        helper.make_node("Sqrt", ["m"], ["r"]),
        helper.make_node("Cast", ["r"], ["y"], to=TensorProto.DOUBLE),
    ]
    return instance(nodes, np.array([0.5], "float16"), TensorProto.DOUBLE, {"c": np.array([1.0009765625], "float16")})


def test_a_compiler_that_does_not_round_in_between_is_right_as_well(root: Instance) -> None:
    exact = np.sqrt(np.array([1.0009765625]))
    assert reason(root, exact) == "ill-conditioned"


def test_a_result_that_no_rounding_explains_is_a_bug(root: Instance) -> None:
    assert reason(root, np.array([1.01])) is None
    assert reason(root, np.array([np.nan])) is None


def test_a_step_that_only_a_rounded_value_reaches_may_be_taken_or_not() -> None:
    nodes = [helper.make_node("Cos", ["x"], ["c"]), helper.make_node("Cast", ["c"], ["y"], to=TensorProto.INT32)]
    found = instance(nodes, np.array([0.02, 1.0], "float16"), TensorProto.INT32)
    assert OnnxTemplate().build(found, "k", 0).reference().outputs[0].tolist() == [1, 0]
    assert reason(found, np.array([0, 0], "int32")) == "ill-conditioned"
    assert reason(found, np.array([1, 1], "int32")) is None
