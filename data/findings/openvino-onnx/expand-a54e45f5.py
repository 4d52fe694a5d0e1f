"""openvino/onnx: Expand: size 1 in place of 0 when a constant shape asks for 0 where input has 1

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: a fixed size of 1 is to become 0, shape is constant, input is no constant.
Actual: shape: expected [0], got [1]
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1] x) => (float[0] y) <int64[1] shape = {0}> { y = Expand(x, shape) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1.5], np.float32)}
expected = np.zeros(0, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
