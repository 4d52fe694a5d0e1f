"""openvino/onnx: QuantizeLinear: refused when y_scale has an open length and x a known size at axis

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: rank of y_scale or y_zero_point is 1, its length is open, the size of x at axis is known.
Expected: [[8, 2]]
Actual: RuntimeError: The number of quantization scale elements ? must match the number of respective input data axis size: 2
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 2] x, float[size] scales) => (uint8[1, 2] z) { z = QuantizeLinear(x, scales) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((1, 2), 8, np.float32), "scales": np.array([1, 4], np.float32)}
expected = np.array([[8, 2]], np.uint8)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
