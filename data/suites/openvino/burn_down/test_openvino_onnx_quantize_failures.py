"""openvino/onnx, quantize: known failures; README.md explains them."""

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
    reason="3a9d2cd2: values: expected 1, got 2 (50% of the elements); fails with: x has a value !=0, y_scale has a "
    "value >1, y_zero_point has a value !=0",
)
def test_quantizelinear_3a9d2cd2(check_onnx):
    # finding 3a9d2cd2d8d9dd93
    # values: expected 1, got 2 (50% of the elements)
    # fails with: x has a value !=0, y_scale has a value >1, y_zero_point has a value !=0
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[2] x) => (uint16[2] out0)
   <float y_scale = {2}, uint16 y_zero_point = {1}> {
   out0 = QuantizeLinear (x, y_scale, y_zero_point)
}
""")
    inputs = {"x": np.array([1.0, 2.0], np.float32)}
    expected = [np.array([1, 2], np.uint16)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeError,
    reason="9e70670a: RuntimeError: Shape inference input shapes {[],[3]}; fails with: y_scale has several elements",
)
def test_quantizelinear_9e70670a(check_onnx):
    # finding 9e70670af0370c74
    # RuntimeError: Shape inference input shapes {[],[3]}
    # fails with: y_scale has several elements
    node = helper.make_node("QuantizeLinear", ["x", "y_scale"], ["out0"], block_size=2)
    entries = [tensor("x", TensorProto.FLOAT, [1, 4]), tensor("y_scale", TensorProto.FLOAT, [1, 2])]
    results = [tensor("out0", TensorProto.UINT8, [1, 4])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"x": np.array([[1.0, 1.0, 1.0, 2.0]], np.float32), "y_scale": np.array([[2.0, 1.0]], np.float32)}
    expected = [np.array([[0, 0, 1, 2]], np.uint8)]
    check_onnx(model, inputs, expected)
