"""openvino/onnx: MatMul: only the first matrix is computed when B is quantised with a scale for each column

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the processor has AVX-512, A is quantised and dequantised by int8 or uint8 with one scale or equal ones along the summed axis and zero point 0, B is int8 and dequantised with zero point 0 and scales that differ for its columns, B has two matrices or more.
Expected: [[4, 12], [12, 28]] and then [[8, 24], [24, 56]]
Actual: values differ: [8, 24, 0, 0] (ACTUAL), [8, 24, 24, 56] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[2,1,2] x) => (float[2,1,2] y)
<int8[2,2,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[2] scales = {1, 2}, int8[2] zeros = {0, 0}, float one = {1}, int8 zero = {0}> {
   q = QuantizeLinear (x, one, zero)
   d = DequantizeLinear (q, one, zero)
   v = DequantizeLinear <axis = 2> (w, scales, zeros)
   y = MatMul (d, v)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = np.ones((2, 1, 2), np.float32)
expected = np.array([8, 24, 24, 56], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
compiled({"x": inputs})
actual = np.nan_to_num(compiled({"x": 2 * inputs})[0].ravel()).astype(int)

np.testing.assert_array_equal(actual, expected)
