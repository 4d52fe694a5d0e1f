"""tvm/onnx, bitwise: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_bitshift_9c4d9fb4(check_onnx):
    node = helper.make_node("BitShift", ["X", "Y"], ["out0"], direction="LEFT")
    entries = [tensor("X", TensorProto.INT8, [3])]
    results = [tensor("out0", TensorProto.INT8, [3])]
    constants = [numpy_helper.from_array(np.array([8, 9, 127], np.int8), "Y")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"X": np.array([-8, 4, -1], np.int8)}
    expected = [np.zeros(3, np.int8)]
    check_onnx(model, inputs, expected)
