"""openvino/onnx: ReduceMax, ReduceMin: result cut to an integer when it is quantised to 8 bits

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the result is quantised to int8 or uint8 with one scale, with a zero point that is not 0, the operator is ReduceMax or ReduceMin with keepdims=1 or GlobalMaxPool, data has rank 2 or more, data is not quantised as 8 bits with one scale or has zero point 0 then, a result is no whole number of that type, in steps of data where data is so quantised.
Expected: [-4.0], which is a multiple of the scale of the result
Actual: values differ: 0.0 (ACTUAL), -4.0 (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2] x) => (float[1,1] y)
<int64[1] axes = {1}, float scale = {0.5}, uint8 zero = {128}> {
   c = ReduceMax (x, axes)
   r = QuantizeLinear (c, scale, zero)
   y = DequantizeLinear (r, scale, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[-8, -4]], np.float32)}
expected = np.array([[-4]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled(inputs)[0]

np.testing.assert_array_equal(actual, expected)
