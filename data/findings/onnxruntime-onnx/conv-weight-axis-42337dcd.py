"""onnxruntime/onnx: Conv: wrong result when the scales of a quantised W are along another axis than 0

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: W is dequantised from 8 bits with several scales or zero points, they are not along axis 0, they differ or are not as many as the output channels, X and Y are quantised as uint8, or by the model as int8, with one scale, a bias is not given or is int32 with the scales of X and W.
Expected: [5, 11], which are 1 * 1 + 2 * 2 and 3 * 1 + 4 * 2
Actual: values differ: [3, 14] (ACTUAL), [5, 11] (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2,1,1] x) => (float[1,2,1,1] y)
<int8[2,2,1,1] w = {1, 2, 3, 4}, float[2] scales = {1, 2}, int8[2] zeros = {0, 0}, float one = {1}, uint8 zero = {0}> {
   q = QuantizeLinear (x, one, zero)
   d = DequantizeLinear (q, one, zero)
   v = DequantizeLinear <axis = 1> (w, scales, zeros)
   c = Conv (d, v)
   r = QuantizeLinear (c, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 2, 1, 1), np.float32)}
expected = np.array([5, 11], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, inputs)[0]

np.testing.assert_array_equal(actual.ravel(), expected)
