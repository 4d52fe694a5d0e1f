"""openvino/onnx: Gather: abort (SIGFPE) when the result is empty and its shape is static

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: the result has no elements and its shape is known when the model is compiled.
Actual: the process ended with SIGFPE
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[3] x, int64[0] i) => (float[0] y) { y = Gather(x, i) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones(3, np.float32), "i": np.zeros(0, np.int64)}
expected = np.zeros(0, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
