"""openvino/onnx: MatMul: wrong shape or crash when a dequantised B has leading axes of 1

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: B is a constant int8, uint8, int4 or uint4 and dequantised, not by blocks, all axes of B before the matrix are 1, B has rank 3 with 4 rows or more and 2 columns or more and A has rank 2 or B has rank 4 or more and A has rank 2 or more, A is not quantised.
Expected: [[[16, 20]]], of shape [1, 1, 2]
Actual: shape differs: (1, 2) (ACTUAL), (1, 1, 2) (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,4] x) => (float[1,1,2] y)
<int8[1,4,2] w = {1, 2, 3, 4, 5, 6, 7, 8}, float one = {1}> {
   v = DequantizeLinear (w, one)
   y = MatMul (x, v)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 4), np.float32)}
expected = np.array([[[16, 20]]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
