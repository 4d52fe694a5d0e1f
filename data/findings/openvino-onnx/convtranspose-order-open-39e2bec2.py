"""openvino/onnx: ConvTranspose: cut at the wrong end when output_shape is given, a size is open or group>1

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: auto_pad is not SAME_UPPER, output_shape is given, a size of X is open or group>1, the total padding is odd.
Expected: [2, 6, 4, 11, 6, 12], as the longer padding is at the begin
Actual: values differ: [0, 0, 0]: 1.0 (ACTUAL), 2.0 (DESIRED) [0, 0, 1]: 2.0 (ACTUAL), 6.0 (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[batch, 1, 3] x, float[1, 1, 3] w) => (float[batch, 1, 6] z) {
    z = ConvTranspose<auto_pad="SAME_LOWER", strides=[2], output_shape=[6]>(x, w)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[1, 2, 3]]], np.float32), "w": np.array([[[1, 2, 4]]], np.float32)}
expected = np.array([[[2, 6, 4, 11, 6, 12]]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, 1e-4)
