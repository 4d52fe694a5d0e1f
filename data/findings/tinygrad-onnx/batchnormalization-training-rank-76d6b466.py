"""tinygrad/onnx: BatchNormalization: training_mode=1 and another rank than 4, crash or wrong statistics

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: training_mode=1, the rank of the input is not 4.
Actual: IndexError: dim=3 out of range [-3, 2]
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
g (float[2,2,2] x, float[2] scale, float[2] b, float[2] mean, float[2] var) => (float[] y0, float[] y1, float[] y2) {
   y0, y1, y2 = BatchNormalization <training_mode: int = 1> (x, scale, b, mean, var)
}
""")
inputs = {
    "x": np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]], np.float32),
    "scale": np.array([1.0, 1.0], np.float32),
    "b": np.array([0.0, 0.0], np.float32),
    "mean": np.array([1.0, 1.0], np.float32),
    "var": np.array([1.0, 1.0], np.float32),
}
expected = [
    np.array([[[-1.21267676, -0.727606058], [-1.21267676, -0.727606058]], [[0.727606058, 1.21267676], [0.727606058, 1.21267676]]], np.float32),
    np.array([1.25, 1.45000005], np.float32),
    np.array([1.32500005, 1.32500005], np.float32),
]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.001, atol=1e-06)
