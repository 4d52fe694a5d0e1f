"""tinygrad/onnx: BatchNormalization: scale or mean of a wider float than the input, output has its dtype

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: training_mode=0, scale and B or the mean and the variance have a wider floating-point dtype than the input.
Actual: dtype: expected float16, got float32
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
g (float16[1,2,2] x, float[2] scale, float[2] b, float[2] mean, float[2] var) => (float16[] y0) {
   y0 = BatchNormalization (x, scale, b, mean, var)
}
""")
inputs = {
    "x": np.array([[[1.0, 2.0], [3.0, 4.0]]], np.float16),
    "scale": np.array([1.0, 1.0], np.float32),
    "b": np.array([0.0, 0.0], np.float32),
    "mean": np.array([1.0, 1.0], np.float32),
    "var": np.array([1.0, 1.0], np.float32),
}
expected = [np.array([[[0.0, 1.0], [2.0, 3.0]]], np.float16)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.01, atol=1e-06)
