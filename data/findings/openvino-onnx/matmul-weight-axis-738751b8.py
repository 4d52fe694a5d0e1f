"""openvino/onnx: MatMul: wrong result when the scales of a quantised B are along the summed axis

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: B is a constant int8 or uint8, B is dequantised with scales or zero points that differ along the summed axis, that axis has 4 elements or more, B has 2 columns or more, B is one matrix, A has rank 2 or more and at most 4 rows, alpha=1.
Expected: [34, 42], which are 1 * 1 + 3 * 2 + 5 * 4 + 7 * 1 and 2 * 1 + 4 * 2 + 6 * 4 + 8 * 1
Actual: values differ: [16, 20] (ACTUAL), [34, 42] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,4] x) => (float[1,2] y)
<int8[4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[4] scales = {1, 2, 4, 1}, int8[4] zeros = {0, 0, 0, 0}> {
   v = DequantizeLinear <axis = 0> (w, scales, zeros)
   y = MatMul (x, v)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 4), np.float32)}
expected = np.array([[34, 42]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(inputs)[0]

np.testing.assert_array_equal(actual, expected)
