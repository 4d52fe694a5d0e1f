"""onnxruntime/onnx: Conv: crash when X or Y is quantised with several scales

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: X and Y are quantised as uint8, or by the model as int8 with one scale, X or Y has several scales, W is dequantised from 8 bits, no bias is given or X has one scale and the bias is a float constant or int32 with the scales of X and W.
Expected: [6, 14], which are 2 * 1 + 2 * 2 and 2 * 3 + 2 * 4
Actual: Fail: IsScalarOr1ElementVector(X_zero_point) was false. QLinearConv : input zero point must be a scalar or 1D tensor of size 1
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2,1,1] x) => (float[1,2,1,1] y)
<int8[2,2,1,1] w = {1, 2, 3, 4}, int8 none = {0}, float[2] scales = {1, 2}, uint8[2] zeros = {0, 0}, float one = {1}, uint8 zero = {0}> {
   q = QuantizeLinear <axis = 1> (x, scales, zeros)
   d = DequantizeLinear <axis = 1> (q, scales, zeros)
   v = DequantizeLinear (w, one, none)
   c = Conv (d, v)
   r = QuantizeLinear (c, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((1, 2, 1, 1), 2, np.float32)}
expected = np.array([6, 14], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, inputs)[0]

np.testing.assert_array_equal(actual.ravel(), expected)
