"""onnxruntime/onnx: Mul: crash (invalid model) for Mul(Identity(x), Div(1, z))

Seen with onnx 1.23.2, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Fails with: a factor of Mul is the result of an Identity, a Cast to the same dtype or a Dropout, and only of it, the other factor is Div of the constant 1 of one element, and only Mul reads it, the Identity comes before the Div.
Expected: [1, 3, 2]
Actual: INVALID_ARGUMENT: Invalid model. Node input 'a' is not a graph input, initializer, or output of a previous node
"""

import numpy as np
import onnx
import onnxruntime as ort

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[3] x, float[3] z) => (float[3] y) <float one = {1}> { a = Identity(x) d = Div(one, z) y = Mul(a, d) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 6, 8], np.float32), "z": np.array([1, 2, 4], np.float32)}
expected = np.array([1, 3, 2], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

np.testing.assert_array_equal(actual, expected)
