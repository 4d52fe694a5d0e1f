"""openvino/onnx, activation: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="0dd7f002: RuntimeError...")
def test_celu_0dd7f002(check_onnx):
    # finding 0dd7f0020e35cf5b
    # RuntimeError: Arguments do not have the same element type (arg0 element type: f...
    # fails with: dtype(X)?float32
    node = helper.make_node("Celu", ["X"], ["out0"])
    entries = [tensor("X", TensorProto.DOUBLE, [])]
    results = [tensor("out0", TensorProto.DOUBLE, [])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"X": np.array(1.0, np.float64)}
    expected = [np.array(1.0, np.float64)]
    check_onnx(model, inputs, expected)
