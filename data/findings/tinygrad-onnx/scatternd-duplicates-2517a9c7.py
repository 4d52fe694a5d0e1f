"""tinygrad/onnx: ScatterND: a reduction and equal indices in one row of rank 3, only the last counts

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: reduction is not none, indices have rank 3 or more, two index tuples below one first index are equal, the result depends on an update before the last of them.
Actual: values: expected 8, got 3 (33% of the elements)
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
   opset_import: ["" : 18]
>
g (float[3] data, int64[1,2,1] indices, float[1,2] updates) => (float[] y0) {
   y0 = ScatterND <reduction: string = "add"> (data, indices, updates)
}
""")
inputs = {
    "data": np.array([1.0, 1.0, 1.0], np.float32),
    "indices": np.array([[[1], [1]]], np.int64),
    "updates": np.array([[5.0, 2.0]], np.float32),
}
expected = [np.array([1.0, 8.0, 1.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
