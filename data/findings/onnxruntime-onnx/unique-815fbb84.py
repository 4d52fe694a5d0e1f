"""onnxruntime/onnx: Unique: abort (SIGABRT) when axis is given and an axis after it has size 0

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced by hand (finding 815fbb842a72e89f). Fails with: axis is given, an axis after it has size 0, neither it nor one before it has size 0.
Actual: the process ended with SIGABRT
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 11]>
single_operator (float[1, 0] X) => (float[N, M] out0) {
   out0 = Unique <axis = 0> (X)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"X": np.zeros((1, 0), np.float32)}
expected = np.zeros((1, 0), np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
