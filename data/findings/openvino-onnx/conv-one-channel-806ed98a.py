"""openvino/onnx: Conv: pads at the end beyond the kernel read the next row (1 channel, no AVX-512)

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated setting (finding 806ed98a4bf16ea8). Fails with: X and W have one channel and Y has one, X has rank 4, all strides
are 1, the pads at the end of the last axis are more than kernel_shape of it.
Actual: values: expected 0.0, got 4.0
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 8, opset_import: ["" : 11]>
g (float[1,1,2,3] x) => (float[1,1,2,5] y) <float[1,1,1,1] w = {1.0}> { y = Conv<pads = [0, 0, 0, 2]>(x, w) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[[1, 2, 3], [4, 5, 6]]]], np.float32)}
expected = np.array([[[[1, 2, 3, 0, 0], [4, 5, 6, 0, 0]]]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
