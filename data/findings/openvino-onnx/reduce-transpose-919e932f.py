"""openvino/onnx: ReduceMax: wrong shape when several axes of a Transpose of sizes of 1 are reduced

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: a reduction of several axes without keepdims reads a transposition, which moves sizes of 1 only.
Actual: shape: expected [2, 1], got [1, 2]
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 1, 1, 2] x) => (float[2, 1] y) <int64[2] axes = {0, 3}> {
  t = Transpose<perm=[0, 3, 2, 1]>(x)
  y = ReduceMax<keepdims=0>(t, axes)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[[2.0, 1.0]]]], np.float32)}
expected = np.array([[2.0], [1.0]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
