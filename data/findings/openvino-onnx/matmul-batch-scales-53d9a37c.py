"""openvino/onnx: MatMul: crash when a quantised A, B or Y of rank 4 has a scale for each matrix

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: Y has rank 4 or 5 and B rank 3 or more, Y is quantised as int8 or uint8, Y has scales or zero points that differ along axis 1 or in rank 5 axis 2 or A and B are 8 bits and A or B has scales that differ along axis 1 of Y.
Expected: [3, 14], which are 1 + 2 and (3 + 4) * 2
Actual: RuntimeError: Check 'any_of(scale.size(), OC, 1U)' failed at src/plugins/intel_cpu/src/dnnl_postops_composer.cpp:526
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2,1,2] x) => (float[1,2,1,1] y)
<int8[1,2,2,1] w = {1, 2, 3, 4}, float[2] scales = {1, 2}, int8[2] zeros = {0, 0}, float one = {1}, int8 zero = {0}> {
   q = QuantizeLinear (x, one, zero)
   d = DequantizeLinear (q, one, zero)
   v = DequantizeLinear <axis = 1> (w, scales, zeros)
   c = MatMul (d, v)
   r = QuantizeLinear (c, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 2, 1, 2), np.float32)}
expected = np.array([3, 14], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(inputs)[0]

np.testing.assert_array_equal(actual.ravel(), expected)
