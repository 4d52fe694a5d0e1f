"""openvino/onnx: RandomUniform: drawn twice when a subtraction reads the numbers and seed is not given

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand (finding da1891f64f8b3e63). Fails with: seed is not given or 0, the second operand of a subtraction has the numbers or what
is made of them, it needs no value at run time, another operand has the same numbers.
Actual: values: expected 0.0, got other numbers between -1 and 1
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g () => (float[4] z) {
   y = RandomUniform<shape = [4]>()
   z = Sub(y, y)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {}
expected = np.zeros(4, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
