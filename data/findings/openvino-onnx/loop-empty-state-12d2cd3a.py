"""openvino/onnx: Loop: crash when it takes only constants and a state of a fixed size without elements

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 12d2cd3aa5c7ae5a). Fails with: a state of a fixed size has no elements, the body hands it on by Identity, all else
that the Loop takes is constant or has no elements.
Actual: RuntimeError: Can not create StaticMemory object. The memory desc is undefined
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[0] x) => (float[0] y) <int64 count = {2}, bool go = {1}> {
   y = Loop<body = b (int64 i, bool before, float[0] state) => (bool after, float[0] next) {
      next = Identity(state)
      after = Identity(before)
   }>(count, go, x)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.zeros(0, np.float32)}
expected = np.zeros(0, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
