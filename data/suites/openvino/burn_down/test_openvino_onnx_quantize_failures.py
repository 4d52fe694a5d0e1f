"""openvino/onnx, quantize: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="3a9d2cd2: values: ex...")
def test_quantizelinear_3a9d2cd2(check_onnx):
    # finding 3a9d2cd2d8d9dd93
    # values: expected 1, got 2
    # fails with: x has a value ?0, y_scale has a value >1, y_zero_point has a value ?0
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float x) => (uint16 out0)
   <float y_scale = {2}, uint16 y_zero_point = {1}> {
   out0 = QuantizeLinear (x, y_scale, y_zero_point)
}
""")
    inputs = {"x": np.array(1.0, np.float32)}
    expected = [np.array(1, np.uint16)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="9e70670a: RuntimeError...")
def test_quantizelinear_9e70670a(check_onnx, data):
    # finding 9e70670af0370c74
    # RuntimeError: Shape inference input shapes {[],[3]}
    # fails with: y_scale has several elements
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["x", "y_scale"]}
    expected = [np.ones((1, 4), np.uint8)]
    check_onnx(model, inputs, expected)
