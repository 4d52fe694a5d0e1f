"""openvino/onnx: Loop: abort (SIGFPE) for float scan outputs when M is 0

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: M is the constant 0, the next condition is that of the body or constant true, a scan output is float16, float32 or float64 of a fixed shape with two elements or more.
Expected: an array of shape [0, 2], as the body runs in no pass
Actual: the process ended with SIGFPE
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[n, 2] all) {
   passes = Constant <value_int = 0> ()
   true = Constant <value = bool {1}> ()
   all = Loop <body = step (int64 i, bool going) => (bool same, float[2] y) {
      same = Identity (going)
      y = Neg (x)
   }> (passes, true)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2], np.float32)}
expected = np.zeros((0, 2), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.shape == expected.shape, f"shape differs: {actual.shape} (ACTUAL), {expected.shape} (DESIRED)"
