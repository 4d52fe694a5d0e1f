"""openvino/onnx: Loop: abort (SIGSEGV) when the body hands one state on twice

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the next values of two states are one state of the body, as it is or by Max, Min or Sum of it alone or Dropout, it is one of the two.
Expected: [1, 2], the first state
Actual: the process ended with SIGSEGV
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x, float[2] y) => (float[2] one, float[2] other) {
   passes = Constant <value_int = 2> ()
   true = Constant <value = bool {1}> ()
   one, other = Loop <body = step (int64 i, bool going, float[2] a, float[2] b) => (bool going, float[2] a, float[2] a) {}> (passes, true, x, y)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2], np.float32), "y": np.array([3, 4], np.float32)}
expected = np.array([[1, 2], [1, 2]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = np.array([*compiled(inputs).values()])

np.testing.assert_array_equal(actual, expected)
