"""openvino/onnx: MatMul: wrong shape when one operand is a vector and the other has several scales

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: A or B is quantised by the model as 8 bits and dequantised, the other one is int8 or uint8 and dequantised, B has zero point 0, one of the two has rank 1 and equal scales, the other one has scales that differ or is A with several zero points that are one number but not 0, they are not along the summed axis.
Expected: [5, 22], of shape [2]
Actual: shape differs: (1, 2) (ACTUAL), (2,) (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[2] x) => (float[2] y)
<int8[2,2] w = {1, 3, 4, 8}, float[2] scales = {1, 2}, int8[2] zeros = {0, 0}, float one = {1}, int8 zero = {0}> {
   q = QuantizeLinear (x, one, zero)
   d = DequantizeLinear (q, one, zero)
   v = DequantizeLinear <axis = 1> (w, scales, zeros)
   y = MatMul (d, v)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones(2, np.float32)}
expected = np.array([5, 22], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(inputs)[0]

np.testing.assert_array_equal(actual, expected)
