"""openvino/onnx: QuantizeLinear: scales of another axis when the size of that axis is open

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the size of x at axis is open, axis is not the last, y_scale has several elements.
Expected: [[8, 8], [2, 2]]
Actual: values differ: [0, 1]: 2 (ACTUAL), 8 (DESIRED) [1, 0]: 8 (ACTUAL), 2 (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[rows, 2] x) => (uint8[rows, 2] z) <float[2] scales = {1, 4}> { z = QuantizeLinear<axis=0>(x, scales) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((2, 2), 8, np.float32)}
expected = np.array([[8, 8], [2, 2]], np.uint8)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
