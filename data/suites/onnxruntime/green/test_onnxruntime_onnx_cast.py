"""onnxruntime/onnx, cast: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_bitcast_3c0306fa(check_onnx):
    node = helper.make_node("BitCast", ["input"], ["out0"], to=1)
    entries = [tensor("input", TensorProto.INT32, [3])]
    results = [tensor("out0", TensorProto.FLOAT, [3])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 26)], ir_version=13)
    inputs = {"input": np.array([1065353216, -1071644672, 1081081856], np.int32)}
    expected = [np.array([1.0, -2.5, 3.75], np.float32)]
    check_onnx(model, inputs, expected)
