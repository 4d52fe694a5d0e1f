"""onnxruntime/onnx: Softmax: wrong result between DequantizeLinear and QuantizeLinear, 1 / y_scale not whole

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a graph by hand (finding f51bbd8f61a0b8e4). Fails with: Softmax reads DequantizeLinear, its x is not constant, x_scale is constant, the scales are float32, only QuantizeLinear reads Softmax, x and y have one 8-bit type, floor(1 / y_scale) gives another y than 1 / y_scale.
Actual: values differ: [0, 0]: 1 (ACTUAL), 2 (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 13]>
fused (uint8[1, 1] x) => (uint8[1, 1] y) <float x_scale = {0.5}, float y_scale = {0.55}, uint8 zero = {0}> {
   a = DequantizeLinear (x, x_scale, zero)
   b = Softmax (a)
   y = QuantizeLinear (b, y_scale, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[4]], np.uint8)}
expected = np.array([[2]], np.uint8)  # round(1 / 0.55)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
