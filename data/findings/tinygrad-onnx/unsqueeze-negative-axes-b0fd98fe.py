"""tinygrad/onnx: Unsqueeze: a negative axis and another one behind it, a dimension of 1 too far in front

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: a negative axis has another of the axes behind it, the dimensions of the input that it moves in front of are not all 1.
Actual: shape: expected (3, 1, 1), got (1, 3, 1)
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
g (float[3] x, int64[2] axes) => (float[] y0) {
   y0 = Unsqueeze (x, axes)
}
""")
inputs = {"x": np.array([1.0, 2.0, 3.0], np.float32), "axes": np.array([-1, -2], np.int64)}
expected = [np.array([[[1.0]], [[2.0]], [[3.0]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
