"""openvino/onnx, quantize: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_quantizelinear_e7e78a87(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[3,4] x, float[3,2] y_scale, uint8[3,2] y_zero_point) => (uint8[3,4] out0) {
   out0 = QuantizeLinear <axis: int = 1, block_size: int = 2> (x, y_scale, y_zero_point)
}
""")
    inputs = {
        "x": np.array([[6.0, 12.0, 50.0, 5.0], [1.0, 8.0, 4.0, 5.0], [0.0, 20.0, 10.0, 4.0]], np.float32),
        "y_scale": np.array([[1.5, 2.5], [3.0, 4.9], [5.1, 6.9]], np.float32),
        "y_zero_point": np.array([[0, 1], [1, 0], [2, 3]], np.uint8),
    }
    expected = [np.array([[4, 8, 21, 3], [1, 4, 1, 1], [2, 6, 4, 4]], np.uint8)]
    check_onnx(model, inputs, expected)
