"""openvino/onnx: Div: rounded in place of truncated when A is int8 or uint8 and a size is open

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: A is int8 or uint8, a size of A or B is open, A / B rounded to the nearest integer (halves to even) is not A / B with its fraction cut off.
Actual: values: expected 0, got 1
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 14]>
g (int8[size] A, int8[size] B) => (int8[?] C) { C = Div(A, B) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"A": np.array([2, 7], np.int8), "B": np.array([3, 2], np.int8)}
expected = [np.array([0, 3], np.int8)]

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = list(compiled(inputs).values())

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
