"""tvm/onnx, bitwise: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="8b7ebee3: values: ex...")
def test_bitshift_8b7ebee3(check_onnx):
    # finding 8b7ebee3b3a13040
    # values: expected 0, got -9223372036854775808
    # fails with: X has a value ?0, Y has a value <0
    node = helper.make_node("BitShift", ["X", "Y"], ["out0"], direction="LEFT")
    entries = [tensor("X", TensorProto.INT64, [])]
    results = [tensor("out0", TensorProto.INT64, [1])]
    constants = [numpy_helper.from_array(np.array([-1], np.int64), "Y")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"X": np.array(1, np.int64)}
    expected = [np.array([0], np.int64)]
    check_onnx(model, inputs, expected)
