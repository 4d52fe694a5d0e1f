"""tinygrad/onnx: Resize: linear and an integer input but uint8, the output is float32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: mode=linear, the input has an integer dtype but uint8, a size changes.
Actual: dtype: expected int32, got float32
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 10,
   opset_import: ["" : 19]
>
g (int32[1,1,2,2] x, float[4] scales) => (int32[] y0) {
   y0 = Resize <mode: string = "linear"> (x, "", scales)
}
""")
inputs = {"x": np.array([[[[0, 16], [32, 48]]]], np.int32), "scales": np.array([1.0, 1.0, 2.0, 2.0], np.float32)}
expected = [np.array([[[[0, 4, 12, 16], [8, 12, 20, 24], [24, 28, 36, 40], [32, 36, 44, 48]]]], np.int32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
