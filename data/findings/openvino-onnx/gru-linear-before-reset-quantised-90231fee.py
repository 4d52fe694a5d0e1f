"""openvino/onnx: GRU: crash with linear_before_reset when X, W and R are quantised

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: linear_before_reset=1, X is quantised and dequantised with one scale by int8 or by uint8 with zero point 0, W and R are int8 or uint8 and dequantised with zero point 0, initial_h is not given or is quantised to int8 or to uint8 with zero point 0.
Expected: 0.329078, for x = 1, 2
Actual: RuntimeError: could not create a primitive descriptor for the LBR GRU forward propagation primitive
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[2,1,1] x) => (float[1,1,1] y)
<int8[1,3,1] w = {1, 1, 1}, float half = {0.5}, int8 zero = {0}, float one = {1}, int8 z = {0}> {
   q = QuantizeLinear (x, one, z)
   d = DequantizeLinear (q, one, z)
   v = DequantizeLinear (w, half, zero)
   _, y = GRU <hidden_size = 1, linear_before_reset = 1> (d, v, v)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[1]], [[2]]], np.float32)}
expected = np.array([[[0.329078]]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(inputs)[0]

np.testing.assert_allclose(actual, expected, rtol=1e-5)
