"""openvino/onnx: MatMul: abort (SIGSEGV) when its only element is reshaped to a scalar

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: a product of matrices of floating numbers with one element as its result, Reshape makes a scalar of it.
Actual: the process ended with SIGSEGV
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 2] x, float[2, 1] w) => (float y) <int64[0] shape = {}> { p = MatMul(x, w) y = Reshape(p, shape) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[1, 2]], np.float32), "w": np.array([[3], [4]], np.float32)}
expected = np.array(11, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
