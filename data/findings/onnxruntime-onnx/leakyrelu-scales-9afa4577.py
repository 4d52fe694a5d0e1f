"""onnxruntime/onnx: LeakyRelu, Sigmoid, pools: crash when X or Y is quantised with several scales

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: X and Y are quantised as uint8, or by the model as int8 with one scale, X or Y has several scales or for AveragePool one in a vector.
Expected: [1, 2], as x is positive
Actual: Fail: QlinearBuildLookupTable : input X_scale must be a scalar or 1D tensor of size 1
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1,2] x) => (float[1,2] y)
<float[2] scales = {1, 2}, uint8[2] zeros = {128, 128}, float one = {1}, uint8 zero = {128}> {
   q = QuantizeLinear <axis = 1> (x, scales, zeros)
   d = DequantizeLinear <axis = 1> (q, scales, zeros)
   c = LeakyRelu (d)
   r = QuantizeLinear (c, one, zero)
   y = DequantizeLinear (r, one, zero)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[1, 2]], np.float32)}
expected = np.array([[1, 2]], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, inputs)[0]

np.testing.assert_array_equal(actual, expected)
