"""openvino/onnx: Pad: wrong result when data is dequantised and constant_value is no quantised value

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 2d47de99e2e2e0d5). Fails with: data is quantised as int8 or uint8 and dequantised by a constant scale,
mode=constant, one axis alone has pads and they are constant, constant_value is not a value of the quantised dtype.
Actual: values: expected 0.5, got 0.0
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2] x) => (float[1,3] y) <float scale = {0.0625}, int8 zero = {0}, int64[4] pads = {0, 0, 0, 1}, float value = {0.5}> {
   q = QuantizeLinear(x, scale, zero)
   data = DequantizeLinear(q, scale, zero)
   y = Pad(data, pads, value)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((1, 2), 3, np.float32)}
expected = np.array([[3.0, 3.0, 0.5]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
