"""openvino/onnx: Hardmax: wrong shape when input is empty and axis is not the last one

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: the input has no elements, the size of axis is not 0, axis is not the last one.
Actual: shape: expected [2, 0], got [2, 1]
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2, 0] x) => (float[2, 0] y) { y = Hardmax<axis=0>(x) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.zeros((2, 0), np.float32)}
expected = np.zeros((2, 0), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
