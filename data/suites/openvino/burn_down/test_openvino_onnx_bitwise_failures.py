"""openvino/onnx, bitwise: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="46cafce4: values: ex...")
def test_bitshift_46cafce4(check_onnx):
    # finding 46cafce4b0e7d439
    # values: expected 0, got 127
    # fails with: dtype(X)=int8, X has a value ?0, Y has a value >1
    node = helper.make_node("BitShift", ["X", "Y"], ["out0"], direction="LEFT")
    entries = [tensor("X", TensorProto.INT8, [])]
    results = [tensor("out0", TensorProto.INT8, [1])]
    constants = [numpy_helper.from_array(np.array([8], np.int8), "Y")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"X": np.array(1, np.int8)}
    expected = [np.array([0], np.int8)]
    check_onnx(model, inputs, expected)
