"""onnxruntime/onnx: Where: wrong result when X, Y or the result is quantised with several scales

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: X, Y and the result are quantised as uint8, or by the model as int8 with one scale, one of the three has several scales or zero points, an element that is taken is on others than the first or X or Y and the result start with different ones and one of the two has several.
Expected: [1, 4], as x is taken, then y
Actual: values differ: [1, 2] (ACTUAL), [1, 4] (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2] x, float[1,2] v) => (float[1,2] y)
<bool[1,2] c = {1, 0}, float[2] scales = {1, 2}, uint8[2] zeros = {128, 128}, float one = {1}, uint8 zero = {128}> {
   q = QuantizeLinear <axis = 1> (x, scales, zeros)
   d = DequantizeLinear <axis = 1> (q, scales, zeros)
   p = QuantizeLinear <axis = 1> (v, scales, zeros)
   f = DequantizeLinear <axis = 1> (p, scales, zeros)
   w = Where (c, d, f)
   r = QuantizeLinear (w, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[1, 2]], np.float32), "v": np.array([[3, 4]], np.float32)}
expected = np.array([[1, 4]], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, inputs)[0]

np.testing.assert_array_equal(actual, expected)
