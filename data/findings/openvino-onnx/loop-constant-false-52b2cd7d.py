"""openvino/onnx: Loop: state as scan output when cond is constant false

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: cond is the constant false, the Loop has scan outputs.
Expected: an array of shape [0, 2], as the body runs in no pass
Actual: shape differs: (2,) (ACTUAL), (0, 2) (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[2] last, float[n, 2] all)
<int64 passes = {3}, bool false = {0}> {
   start = Neg (x)
   last, all = Loop <body = step (int64 i, bool going, float[2] v) => (bool same, float[2] w, float[2] y) {
      same = Identity (going)
      w = Neg (v)
      y = Exp (v)
   }> (passes, false, start)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2], np.float32)}
expected = np.zeros((0, 2), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
last, actual = compiled(inputs).values()

assert actual.shape == expected.shape, f"shape differs: {actual.shape} (ACTUAL), {expected.shape} (DESIRED)"
assert actual.dtype == expected.dtype, f"dtype differs: {actual.dtype} (ACTUAL), {expected.dtype} (DESIRED)"
