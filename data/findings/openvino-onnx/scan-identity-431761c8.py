"""openvino/onnx: Scan: wrong result when the next state is the slice by Identity and the old one is used

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: Scan has two steps or more, the next state is a slice of a scanned input by Identity or another node that is optimised away such as Cast, Reshape or Add of 0, the body uses the values of the state, the slices differ.
Expected: [[-10, -20], [-1, -2]], the negated start and the first row negated
Actual: values differ: [-8, -9] (ACTUAL), [-1, -2] (DESIRED) in the last row
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] start, float[2, 2] rows) => (float[2, 2] before) {
   last, before = Scan <num_scan_inputs = 1, body = step (float[2] state, float[2] row) => (float[2] next, float[2] negated) {
      next = Identity (row)
      negated = Neg (state)
   }> (start, rows)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"start": np.array([10, 20], np.float32), "rows": np.array([[1, 2], [8, 9]], np.float32)}
expected = np.array([[-10, -20], [-1, -2]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected)
