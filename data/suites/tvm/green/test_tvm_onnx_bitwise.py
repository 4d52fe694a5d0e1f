"""tvm/onnx, bitwise: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_bitshift_9431d97c(check_onnx):
    node = helper.make_node("BitShift", ["X", "Y"], ["out0"], direction="RIGHT")
    entries = [tensor("X", TensorProto.INT8, [3]), tensor("Y", TensorProto.INT8, [3])]
    results = [tensor("out0", TensorProto.INT8, [3])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"X": np.array([-8, -1, -128], np.int8), "Y": np.ones(3, np.int8)}
    expected = [np.array([-4, -1, -64], np.int8)]
    check_onnx(model, inputs, expected)
