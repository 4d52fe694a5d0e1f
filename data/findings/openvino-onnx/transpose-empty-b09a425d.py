"""openvino/onnx: Transpose: size 1 in place of 0 when a size is 0 and only sizes of 1 change places with it

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: a size is 0, only sizes of 1 change places with it, the shape is known when the model is compiled.
Actual: shape: expected [1, 0], got [1, 1]
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[0, 1] x) => (float[1, 0] y) { y = Transpose<perm=[1, 0]>(x) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.zeros((0, 1), np.float32)}
expected = np.zeros((1, 0), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
