"""tvm/onnx, reduce: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_reducel1_6af5b58c(check_onnx, data):
    node = helper.make_node("ReduceL1", ["data", "axes"], ["out0"], keepdims=1)
    entries = [tensor("data", TensorProto.FLOAT, [3, 2, 2])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 1])]
    constants = [numpy_helper.from_array(np.zeros((0,), np.int64), "axes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 18)], ir_version=10)
    inputs = {"data": data["array0"]}
    expected = [np.array([[[39.778313]]], np.float32)]
    check_onnx(model, inputs, expected)
