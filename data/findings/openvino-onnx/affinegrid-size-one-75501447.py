"""openvino/onnx: AffineGrid: wrong shape when align_corners=1 and a spatial size is 1

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated setting (finding 755014479e8b20b8). Fails with: align_corners=1, a spatial size is 1.
Actual: shape: expected [1, 1, 3, 2], got [1, 2, 3, 2]
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 9, opset_import: ["" : 20]>
g (float[1,2,3] theta) => (float[1,1,3,2] y) <int64[4] size = {1, 1, 1, 3}> { y = AffineGrid<align_corners = 1>(theta, size) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"theta": np.zeros((1, 2, 3), np.float32)}  # every position is the origin, wherever one pixel lies
expected = np.zeros((1, 1, 3, 2), np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
