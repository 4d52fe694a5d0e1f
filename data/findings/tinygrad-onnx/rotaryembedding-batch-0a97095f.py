"""tinygrad/onnx: RotaryEmbedding: no position_ids and a batch larger than the head, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: position_ids are not given, the batch is larger than head_size.
Actual: IndexError: shape mismatch: objects cannot be broadcast to a single shape ((3, 2, 1, 1), (2, 2, 1, 1))
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 11,
   opset_import: ["" : 23]
>
g (float[3,1,2,2] x, float[3,2,1] c, float[3,2,1] s) => (float[] y0) {
   y0 = RotaryEmbedding (x, c, s)
}
""")
inputs = {
    "x": np.array([[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]], [[[9.0, 10.0], [11.0, 12.0]]]], np.float32),
    "c": np.array([[[1.0], [1.0]], [[1.0], [1.0]], [[1.0], [1.0]]], np.float32),
    "s": np.array([[[0.0], [0.0]], [[0.0], [0.0]], [[0.0], [0.0]]], np.float32),
}
expected = [np.array([[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]], [[[9.0, 10.0], [11.0, 12.0]]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
