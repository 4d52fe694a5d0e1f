"""openvino/onnx, pool: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="f9ece3ac: shape: expected [1, 1, 1], got [1, 1, 2]; fails with: X has several elements, ceil_mode>0, "
    "kernel_shape[0]=1, strides has an entry >1",
)
def test_maxpool_f9ece3ac(check_onnx):
    # finding f9ece3ac877ca9be
    # shape: expected [1, 1, 1], got [1, 1, 2]
    # fails with: X has several elements, ceil_mode>0, kernel_shape[0]=1, strides has an entry >1
    node = helper.make_node("MaxPool", ["X"], ["out0"], ceil_mode=1, kernel_shape=[1], strides=[2])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 2])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"X": np.array([[[2.0, 1.0]]], np.float32)}
    expected = [np.array([[[2.0]]], np.float32)]
    check_onnx(model, inputs, expected)
