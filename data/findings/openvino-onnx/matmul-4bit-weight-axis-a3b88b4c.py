"""openvino/onnx: MatMul: wrong result when a 4-bit B has scales along the summed axis

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: B is a constant int4 or uint4, B is dequantised with scales along the summed axis, also equal ones, not by blocks, that axis has 4 elements or more, B has 2 columns or more, B is one matrix, A has rank 2 or more, alpha=1.
Expected: [21, 26], which are 1 * 1 + 5 * 4 and 2 * 1 + 6 * 4
Actual: values differ: [6, 8] (ACTUAL), [21, 26] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,4] x) => (float[1,2] y)
<float[4] scales = {1, 2, 4, 1}> {
   v = DequantizeLinear <axis = 0> (w, scales)
   y = MatMul (x, v)
}
""")
model.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.UINT4, [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]))
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[1, 0, 1, 0]], np.float32)}
expected = np.array([[21, 26]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
