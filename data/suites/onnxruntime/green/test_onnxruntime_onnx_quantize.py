"""onnxruntime/onnx, quantize: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("onnxruntime")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_dequantizelinear_7f383e33(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (uint8[1,4,3,2] x, float[1,2,3,2] x_scale, uint8[1,2,3,2] x_zero_point) => (float[1,4,3,2] out0) {
   out0 = DequantizeLinear <axis: int = 1, block_size: int = 2> (x, x_scale, x_zero_point)
}
""")
    inputs = {
        "x": data["array1"],
        "x_scale": np.array([[[[3.0, 2.0], [4.0, 1.0], [2.0, 2.0]], [[5.0, 2.0], [4.0, 3.0], [5.0, 2.0]]]], np.float32),
        "x_zero_point": np.array([[[[1, 0], [0, 1], [2, 20]], [[3, 2], [4, 3], [15, 2]]]], np.uint8),
    }
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_quantizelinear_03eab95a(check_onnx):
    node = helper.make_node("QuantizeLinear", ["x", "y_scale", "y_zero_point"], ["out0"], axis=0)
    entries = [tensor("x", TensorProto.FLOAT, [3, 4])]
    results = [tensor("out0", TensorProto.INT2, [3, 4])]
    constants = [
        numpy_helper.from_array(np.array([2.0, 3.0, 4.0], np.float32), "y_scale"),
        numpy_helper.from_array(np.array([0.0, 0.0, 0.0], ml_dtypes.int2), "y_zero_point"),
    ]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"x": np.array([[0.0, 2.5, 4.8, 8.6], [-4.0, -3.0, 1.0, 2.0], [-0.0, -2.5, -4.8, -8.6]], np.float32)}
    expected = [np.array([[0.0, 1.0, 1.0, 1.0], [-1.0, -1.0, 0.0, 1.0], [0.0, -1.0, -1.0, -2.0]], ml_dtypes.int2)]
    check_onnx(model, inputs, expected)
