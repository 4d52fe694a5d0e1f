"""openvino/onnx, quantize: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("openvino")


def test_dequantizelinear_d7ebddf7(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float4e2m1[5] x, float x_scale,
      float4e2m1[1] x_zero_point) => (float[5] out0) {
   out0 = DequantizeLinear <axis: int = 0> (x, x_scale, x_zero_point)
}
""")
    inputs = {
        "x": np.array([0.0, 1.0, -1.0, 1.5, -4.0], ml_dtypes.float4_e2m1fn),
        "x_scale": np.array(2.0, np.float32),
        "x_zero_point": np.array([0.0], ml_dtypes.float4_e2m1fn),
    }
    expected = [np.array([0.0, 2.0, -2.0, 3.0, -8.0], np.float32)]
    check_onnx(model, inputs, expected)
