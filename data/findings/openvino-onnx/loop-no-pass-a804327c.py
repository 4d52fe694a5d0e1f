"""openvino/onnx: Loop: uninitialised memory in scan outputs when the first condition is false

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: cond is false, given or computed at run time, the next condition is the constant false or M is a constant over 0 and the next condition is that of the body or constant true, the body has scan outputs.
Expected: an array of shape [0, 2], as the body runs in no pass
Actual: shape differs: (3, 2) (ACTUAL), (0, 2) (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (bool going, float[2] x) => (float[n, 2] all) {
   passes = Constant <value_int = 3> ()
   all = Loop <body = step (int64 i, bool going) => (bool same, float[2] y) {
      same = Identity (going)
      y = Neg (x)
   }> (passes, going)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"going": np.array(False), "x": np.array([1, 2], np.float32)}
expected = np.zeros((0, 2), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.shape == expected.shape, f"shape differs: {actual.shape} (ACTUAL), {expected.shape} (DESIRED)"
