"""openvino/onnx: Add: hang when constants of float64 are added or subtracted twice in a row

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated program (finding 9e3c815733222fa2). Fails with: a sum or difference of two constants of float64 is added to a third, or a third is subtracted from it.
Actual: no answer within 60 s
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g () => (double[2] z) <double[2] a = {1.0, 2.0}, double[2] b = {3.0, 4.0}> { y = Add(a, b) z = Add(y, b) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {}
expected = np.array([7.0, 10.0])

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected)
