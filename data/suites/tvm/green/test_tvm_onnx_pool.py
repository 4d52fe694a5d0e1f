"""tvm/onnx, pool: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_maxpool_b4bd462d(check_onnx):
    node = helper.make_node(
        "MaxPool", ["X"], ["out0"], ceil_mode=1, kernel_shape=[1, 1], strides=[2, 2]
    )
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 2, 2])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"X": np.array([[[[1.0, 2.0], [3.0, 4.0]]]], np.float32)}
    expected = [np.array([[[[1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
