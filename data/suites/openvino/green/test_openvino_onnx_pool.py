"""openvino/onnx, pool: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_maxpool_8afa8185(check_onnx, data):
    node = helper.make_node("MaxPool", ["X"], ["out0"], dilations=[2, 2, 2], kernel_shape=[2, 2, 2], strides=[1, 1, 1])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 4, 4, 4])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 2, 2, 2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"X": data["array0"]}
    expected = [np.array([[[[[11.0, 12.0], [15.0, 16.0]], [[11.0, 12.0], [15.0, 16.0]]]]], np.float32)]
    check_onnx(model, inputs, expected)
