"""openvino/onnx: Loop: crash when the body uses its condition and hands it on

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the next condition is the condition of the body, as it is or by one Identity, another result of the body depends on it.
Expected: [-1, -2], the negated input
Actual: RuntimeError: Model references undeclared parameters: opset1::Parameter going () -> (boolean[])
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[2] last) {
   passes = Constant <value_int = 1> ()
   true = Constant <value = bool {1}> ()
   last = Loop <body = step (int64 i, bool going, float[2] state) => (bool same, float[2] next) {
      same = Identity (going)
      negated = Neg (state)
      next = Where (going, negated, state)
   }> (passes, true, x)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2], np.float32)}
expected = np.array([-1, -2], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected)
