"""openvino/onnx: QuantizeLinear: crash when it has blocks and a size is open

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: block_size>1, a size of x is open, y_scale has several elements, there are several blocks or the size of axis is known.
Expected: [[8, 8, 2, 2]]
Actual: RuntimeError: Cannot get length of dynamic dimension
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[rows, 4] x, float[rows, 2] scales, uint8[rows, 2] zeros) => (uint8[rows, 4] z) {
    z = QuantizeLinear<axis=1, block_size=2>(x, scales, zeros)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((1, 4), 8, np.float32), "scales": np.array([[1, 4]], np.float32), "zeros": np.zeros((1, 2), np.uint8)}
expected = np.array([[8, 8, 2, 2]], np.uint8)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
