"""onnxruntime/onnx: Gemm: wrong result when the scales of a quantised B are along the summed axis

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: B is dequantised from 8 bits with several scales or zero points that differ, they are along the summed axis, they are as many as the columns of the result, A is dequantised from 8 bits with one scale, Y is not quantised or as 8 bits with one scale while A is no int8 of run time, C is not given or is dequantised from int32 with beta=1.
Expected: [7, 10], which are 1 * 1 + 3 * 2 and 2 * 1 + 4 * 2
Actual: values differ: [4, 12] (ACTUAL), [7, 10] (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2] x) => (float[1,2] y)
<int8[2,2] w = {1, 2, 3, 4}, float[2] scales = {1, 2}, int8[2] zeros = {0, 0}, float one = {1}, uint8 zero = {0}> {
   q = QuantizeLinear (x, one, zero)
   d = DequantizeLinear (q, one, zero)
   v = DequantizeLinear <axis = 0> (w, scales, zeros)
   c = Gemm (d, v)
   r = QuantizeLinear (c, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 2), np.float32)}
expected = np.array([[7, 10]], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, inputs)[0]

np.testing.assert_array_equal(actual, expected)
