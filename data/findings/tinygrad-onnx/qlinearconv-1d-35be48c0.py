"""tinygrad/onnx: QLinearConv: rank 3, or rank 5 and scales that differ between channels, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input has rank 3, or the input has rank 5 or more and the scales or zero points of the weights differ between channels.
Actual: AssertionError: Input Tensor shape (1, 1, 4) does not match the shape of the weights (1, 1, 1, 2). (1 vs. 1)
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
   opset_import: ["" : 10]
>
g (uint8[1,1,4] x, float xs, uint8 xz, uint8[1,1,2] w, float ws, uint8 wz, float ys, uint8 yz) => (uint8[] y0) {
   y0 = QLinearConv (x, xs, xz, w, ws, wz, ys, yz)
}
""")
inputs = {
    "x": np.array([[[1, 2, 3, 4]]], np.uint8),
    "xs": np.array(1.0, np.float32),
    "xz": np.array(0, np.uint8),
    "w": np.array([[[1, 2]]], np.uint8),
    "ws": np.array(1.0, np.float32),
    "wz": np.array(0, np.uint8),
    "ys": np.array(1.0, np.float32),
    "yz": np.array(0, np.uint8),
}
expected = [np.array([[[5, 8, 11]]], np.uint8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
