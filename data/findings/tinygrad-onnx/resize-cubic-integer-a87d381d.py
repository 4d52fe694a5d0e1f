"""tinygrad/onnx: Resize: cubic and an integer input, the output is float32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: mode=cubic, the input has an integer dtype, a size changes.
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
   y0 = Resize <mode: string = "cubic"> (x, "", scales)
}
""")
inputs = {"x": np.array([[[[0, 65536], [131072, 196608]]]], np.int32), "scales": np.array([1.0, 1.0, 2.0, 2.0], np.float32)}
expected = [np.array([[[[-20736, 1024, 36864, 58624], [22784, 44544, 80384, 102144], [94464, 116224, 152064, 173824], [137984, 159744, 195584, 217344]]]], np.int32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
