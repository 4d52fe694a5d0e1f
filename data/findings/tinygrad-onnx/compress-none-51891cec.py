"""tinygrad/onnx: Compress: no element chosen, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: each element of the condition is false.
Actual: IndexError: index dtype dtypes.float is not supported
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
   opset_import: ["" : 21]
>
g (float[3,2] x, bool[3] c) => (float[] y0) {
   y0 = Compress <axis: int = 0> (x, c)
}
""")
inputs = {"x": np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32), "c": np.array([False, False, False], np.bool_)}
expected = [np.zeros((0, 2), np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
