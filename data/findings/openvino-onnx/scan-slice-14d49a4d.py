"""openvino/onnx: Scan: wrong shape when a result of the body is a slice itself

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: a result of the body is a slice of a scanned input, as it is or through Max, Min or Sum of it alone or Dropout that drops nothing.
Expected: [[1, 2, 3], [4, 5, 6]] of shape [2, 3], the rows one after the other
Actual: shape differs: (2, 1, 3) (ACTUAL), (2, 3) (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 3] rows) => (float[2, 3] all) {
   all = Scan <num_scan_inputs = 1, body = step (float[3] row) => (float[3] same) {
      same = Max (row)
   }> (rows)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"rows": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
expected = inputs["rows"]

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.shape == expected.shape, f"shape differs: {actual.shape} (ACTUAL), {expected.shape} (DESIRED)"
np.testing.assert_array_equal(actual, expected)
