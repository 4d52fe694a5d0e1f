"""tinygrad/onnx: Attention: grouped heads, queries meet keys and values of other heads

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the queries have more heads than the keys, the keys have more than one head.
Actual: values: expected 5.16763163, got 26.913271 (50% of the elements)
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
g (float[1,4,2,1] Q, float[1,2,3,1] K, float[1,2,3,1] V) => (float[] y0) {
   y0 = Attention (Q, K, V)
}
""")
inputs = {
    "Q": np.array([[[[0.25], [0.5]], [[0.75], [1.0]], [[1.25], [1.5]], [[1.75], [2.0]]]], np.float32),
    "K": np.array([[[[0.25], [0.5], [0.75]], [[1.0], [1.25], [1.5]]]], np.float32),
    "V": np.array([[[[1.0], [4.0], [9.0]], [[16.0], [25.0], [36.0]]]], np.float32),
}
expected = [
    np.array([[[[4.8336587], [5.00086451]], [[5.16763163], [5.33331919]], [[27.7273865], [28.124897]], [[28.5142822], [28.894371]]]], np.float32),
]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
