"""openvino/onnx: Loop: zeros for a state that the body does not read when no pass runs

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: no pass runs, no result of the body depends on the state.
Expected: [4, 5], the state as it was
Actual: values differ: [0, 0] (ACTUAL), [4, 5] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (int64 passes, float[2] a, float[2] b) => (float[2] y, float[2] z) {
   true = Constant <value = bool {1}> ()
   y, z = Loop <body = step (int64 i, bool going, float[2] v, float[2] unread) => (bool same, float[2] p, float[2] q) {
      same = Identity (going)
      p = Neg (v)
      q = Abs (v)
   }> (passes, true, a, b)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"passes": np.array(0), "a": np.array([1, 2], np.float32), "b": np.array([4, 5], np.float32)}
expected = np.array([[1, 2], [4, 5]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = np.array([*compiled(inputs).values()])

np.testing.assert_array_equal(actual, expected)
