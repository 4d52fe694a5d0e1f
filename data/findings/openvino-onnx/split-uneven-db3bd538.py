"""openvino/onnx: Split: crash when num_outputs does not divide a size that is open

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: num_outputs is given, the size along axis is open and not a multiple of num_outputs.
Actual: RuntimeError: Dimension of data input shape along 'axis': 8 must be evenly divisible by 'num_splits' attribute value: 3
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 18]>
g (float[1, size] x) => (float[?, ?] a, float[?, ?] b, float[?, ?] c) { a, b, c = Split<axis=1, num_outputs=3>(x) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.arange(8, dtype=np.float32).reshape(1, 8)}
expected = [np.array([[0, 1, 2]], np.float32), np.array([[3, 4, 5]], np.float32), np.array([[6, 7]], np.float32)]

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = list(compiled(inputs).values())

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
