"""openvino/onnx: RNN, GRU, LSTM: crash in a Scan when W, R, B or lengths are not constant

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the call is in the body of a Scan, W, R, B or sequence_lens is no constant.
Expected: [[0], [0]] of shape [2, 1, 1, 1, 1], the hyperbolic tangent of 0
Actual: RuntimeError: No nested TensorIterator
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 1, 1, 1] rows, float[1, 1, 1] w, float[1, 1, 1] r) => (float[2, 1, 1, 1, 1] all) {
   w_last, r_last, all = Scan <num_scan_inputs = 1, body = step (float[1, 1, 1] w, float[1, 1, 1] r, float[1, 1, 1] row)
         => (float[1, 1, 1] w_same, float[1, 1, 1] r_same, float[1, 1, 1, 1] y) {
      w_same = Identity (w)
      r_same = Identity (r)
      y = RNN <hidden_size = 1> (row, w, r)
   }> (w, r, rows)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"rows": np.zeros((2, 1, 1, 1), np.float32), "w": np.ones((1, 1, 1), np.float32), "r": np.ones((1, 1, 1), np.float32)}
expected = np.zeros((2, 1, 1, 1, 1), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected)
