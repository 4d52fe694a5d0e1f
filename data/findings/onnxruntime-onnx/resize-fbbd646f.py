"""onnxruntime/onnx: Resize: 0 in place of negative numbers when antialias=1 and dtype(X)=int8

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: dtype(X)=int8, antialias=1, a length changes, a weighted average rounds below 0.
Actual: values differ: [0, 0, 0, 0]: 0 (ACTUAL), -10 (DESIRED) [0, 0, 0, 1]: 0 (ACTUAL), -10 (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
single_operator (int8[1, 1, 1, 4] X) => (int8[1, 1, 1, 2] out0) <int64[4] sizes = {1, 1, 1, 2}> {
   out0 = Resize <mode = "linear", antialias = 1> (X, , , sizes)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"X": np.full((1, 1, 1, 4), -10, np.int8)}
expected = np.full((1, 1, 1, 2), -10, np.int8)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
