"""openvino/onnx, fft: known failures; README.md explains them."""

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
    reason="1af50c4b: shape: expected [1, 2, 2], got [1, 2, 1, 2]; fails with: onesided=1",
)
def test_dft_1af50c4b(check_onnx):
    # finding 1af50c4b14fbb8d2
    # shape: expected [1, 2, 2], got [1, 2, 1, 2]
    # fails with: onesided=1
    # 1 more call fails for the same cause: DFT
    node = helper.make_node("DFT", ["input"], ["out0"], onesided=1)
    entries = [tensor("input", TensorProto.FLOAT, [1, 2, 1])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 2, 2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 17)], ir_version=10)
    inputs = {"input": np.array([[[1.0], [2.0]]], np.float32)}
    expected = [np.array([[[3.0, 0.0], [-1.0, 0.0]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="d9e5a16b: values: expected 3.0, got 2.0 (25% of the elements); fails with: input has a value !=0, "
    "rank(input)>=4, input has several elements",
)
def test_dft_d9e5a16b(check_onnx):
    # finding d9e5a16b3a25c2be
    # values: expected 3.0, got 2.0 (25% of the elements)
    # fails with: input has a value !=0, rank(input)>=4, input has several elements
    node = helper.make_node("DFT", ["input", ""], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [1, 1, 2, 1])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 2, 2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"input": np.array([[[[2.0], [1.0]]]], np.float32)}
    expected = [np.array([[[[3.0, 0.0], [1.0, 0.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
