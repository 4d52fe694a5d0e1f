"""Each compiler states dtypes and shapes of what it compiled; a wrong reference would be noticed."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from opera.arrays import Signature
from opera.compilers.adapter import Subject
from opera.compilers.registry import plugin

INPUTS = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "s": np.array([3, 2], np.int64)}


def model(*, known: bool = True) -> Any:
    """Two outputs of two dtypes; where the shape is not *known*, the first one has the shape that an input says."""
    nodes = [helper.make_node("Reshape", ["x", "s"], ["a"]) if not known else helper.make_node("Transpose", ["x"], ["a"])]
    nodes.append(helper.make_node("Cast", ["x"], ["b"], to=TensorProto.INT32))
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    inputs += [] if known else [helper.make_tensor_value_info("s", TensorProto.INT64, [2])]
    outputs = [
        helper.make_tensor_value_info("a", TensorProto.FLOAT, [3, 2] if known else ["m", "n"]),
        helper.make_tensor_value_info("b", TensorProto.INT32, [2, 3]),
    ]
    made = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def stated(name: str, *, known: bool = True) -> list[tuple[str | None, list[int | None] | None]]:
    adapter = plugin(name).load()({})
    adapter.start()
    route = next(each for each in adapter.routes if (each.frontend, each.name) == ("onnx", "onnx"))
    made = model(known=known)
    names = [entry.name for entry in made.graph.input]
    subject = Subject(
        route, made.SerializeToString(), {each: INPUTS[each] for each in names}, 2, lambda: pytest.fail("no instance is needed")
    )
    compiled = adapter.compile(adapter.load(subject, str), subject, str)
    signature: Signature | None = adapter.signature(compiled, subject)
    assert signature is not None
    return [(dtype, None if shape is None else list(shape)) for dtype, shape in signature]


@pytest.mark.parametrize("name", ["onnxruntime", "openvino", "tvm"])
def test_dtypes_and_shapes_are_those_of_the_results(name: str) -> None:
    assert stated(name) == [("float32", [3, 2]), ("int32", [2, 3])]


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_a_shape_that_values_decide_is_not_stated(name: str) -> None:
    (dtype, shape), second = stated(name, known=False)
    assert (dtype, second) == ("float32", ("int32", [2, 3]))
    assert shape is None or shape == [None, None]


def test_iree_states_what_it_declares_of_stablehlo() -> None:
    text = """func.func @main(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xui8>, tensor<2x3xi1>) {
  %a = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %b = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xui8>
  %c = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return %a, %b, %c : tensor<3x2xf32>, tensor<2x3xui8>, tensor<2x3xi1>
}
"""
    adapter = plugin("iree").load()({})
    adapter.start()
    route = next(each for each in adapter.routes if each.frontend == "stablehlo")
    subject = Subject(route, text.encode(), {"x": INPUTS["x"]}, 3, lambda: pytest.fail("no instance is needed"))
    compiled = adapter.compile(adapter.load(subject, str), subject, str)
    signature = adapter.signature(compiled, subject)
    assert signature == [("float32", [3, 2]), ("uint8", [2, 3]), ("bool", [2, 3])]
    assert [(each.dtype.name, list(each.shape)) for each in map(np.asarray, adapter.run(compiled, subject, str))] == signature


def test_xla_states_what_jax_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    monkeypatch.setenv("XLA_FLAGS", "")
    adapter = plugin("xla").load()({})
    adapter.start()
    jax: Any = importlib.import_module("jax")
    compiled = jax.jit(lambda x: (x.T, x.astype("int32"))).lower(INPUTS["x"]).compile()
    route = next(each for each in adapter.routes if each.frontend == "keras")
    subject = Subject(route, b"", {}, 2, lambda: pytest.fail("no instance is needed"))
    assert adapter.signature((None, compiled), subject) == [("float32", (3, 2)), ("int32", (2, 3))]
