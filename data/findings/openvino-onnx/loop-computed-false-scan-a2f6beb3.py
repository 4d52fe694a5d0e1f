"""openvino/onnx: Loop: crash for scan outputs when cond is computed as false

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: cond is false and computed from constants, not a constant itself, a scan output has rank 2 or more.
Expected: an array of shape [0, 2], as the body runs in no pass
Actual: RuntimeError: Check 'full_dims == part_dims' failed at src/plugins/intel_cpu/src/nodes/tensoriterator.cpp:132: Shape mismatch for tensor iterator port
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[n, 2] all)
<int64 passes = {3}, bool true = {1}> {
   false = Not (true)
   all = Loop <body = step (int64 i, bool going) => (bool same, float[2] y) {
      same = Identity (going)
      y = Neg (x)
   }> (passes, false)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2], np.float32)}
expected = np.zeros((0, 2), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.shape == expected.shape, f"shape differs: {actual.shape} (ACTUAL), {expected.shape} (DESIRED)"
assert actual.dtype == expected.dtype, f"dtype differs: {actual.dtype} (ACTUAL), {expected.dtype} (DESIRED)"
