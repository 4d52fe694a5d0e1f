"""onnxruntime/onnx: RandomNormal, RandomNormalLike: abort (SIGABRT) when scale≤0

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a graph by hand (finding 4449f5fce2771fd5). Fails with: scale≤0.
Actual: the process ended with SIGABRT
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 13]>
single_operator () => (float[2] out0) {
   out0 = RandomNormal <mean = 3.0, scale = 0.0, shape = [2]> ()
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {}
expected = np.array([3, 3], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
