"""openvino/onnx: ConvTranspose: wrong size when auto_pad is SAME_UPPER or SAME_LOWER and a size is open

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: auto_pad is SAME_UPPER or SAME_LOWER, output_shape is not given, a size of X is open, the kernel is longer than the stride.
Expected: [1, 1, 6], the size times the stride
Actual: expected shape (1, 1, 6), got (1, 1, 7)
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[batch, 1, 3] x, float[1, 1, 3] w) => (float[batch, 1, 6] z) { z = ConvTranspose<auto_pad="SAME_UPPER", strides=[2]>(x, w) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[1, 2, 3]]], np.float32), "w": np.array([[[1, 2, 4]]], np.float32)}
expected = np.array([[[1, 2, 6, 4, 11, 6]]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
np.testing.assert_allclose(actual, expected, 1e-4)
