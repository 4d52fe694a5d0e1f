"""openvino/onnx: InstanceNormalization: wrong result when input is dequantised and epsilon matters

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 6517badddce9d1a1). Fails with: input is quantised as int8 or uint8 and dequantised by a constant scale, zero point 0, scale≠1, epsilon>0, a LayerNormalization has rank 1 or at most rank 5 and axis 1 or 2 from the front.
Actual: values: expected -0.768473, got -1.336306
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1,1,4] x) => (float[1,1,4] y) <float step = {0.0625}, int8 zero = {0}, float[1] scale = {1}, float[1] bias = {0}> {
   q = QuantizeLinear(x, step, zero)
   a = DequantizeLinear(q, step, zero)
   y = InstanceNormalization<epsilon = 0.01>(a, scale, bias)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
x = np.array([[[0, 1, 2, 3]]], np.float32) / 16
inputs = {"x": x}
expected = (x - x.mean()) / np.sqrt(x.var() + np.float32(0.01))

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_allclose(actual, expected, rtol=0.001)
