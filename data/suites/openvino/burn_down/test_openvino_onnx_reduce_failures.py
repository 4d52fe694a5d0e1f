"""openvino/onnx, reduce: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="2045e985: inf: expec...")
def test_reducemin_2045e985(check_onnx):
    # finding 2045e985003ca63e
    # inf: expected inf, got 3.4028234663852886e+38
    # fails with: dtype(data)=float32, data is empty
    node = helper.make_node("ReduceMin", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [0])]
    results = [tensor("out0", TensorProto.FLOAT, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.zeros((0,), np.float32)}
    expected = [np.array([np.inf], np.float32)]
    check_onnx(model, inputs, expected)
