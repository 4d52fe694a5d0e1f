"""openvino/onnx: Gather: wrong result when data has scales along a later axis

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: data is a constant int8, uint8, int4 or uint4, data is dequantised with scales along another axis than the first, not by blocks, there are two scales or more, two scales or zero points differ or the first axis is longer than there are scales.
Expected: [[1, 6], [4, 16]]
Actual: values differ: [1, 3, 8, 16] (ACTUAL), [1, 6, 4, 16] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (int64[2] rows) => (float[2,2] y)
<int8[2,2] w = {1, 3, 4, 8}, float[2] scales = {1, 2}> {
   v = DequantizeLinear <axis = 1> (w, scales)
   y = Gather <axis = 0> (v, rows)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"rows": np.array([0, 1])}
expected = np.array([[1, 6], [4, 16]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
