"""tinygrad/onnx: QuantizeLinear and DequantizeLinear: the last block is not full, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: block_size does not divide the size of the axis, the scale has more than one element.
Actual: IndexError: shape mismatch: objects cannot be broadcast to a single shape ((2, 5), (2, 6))
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
g (float[2,5] x, float[2,2] y_scale, int8[2,2] y_zero_point) => (int8[] y0) {
   y0 = QuantizeLinear <axis: int = 1, block_size: int = 3> (x, y_scale, y_zero_point)
}
""")
inputs = {
    "x": np.array([[10.0, 20.0, 30.0, 40.0, 50.0], [60.0, 70.0, 80.0, 90.0, 100.0]], np.float32),
    "y_scale": np.array([[1.0, 1.0], [1.0, 1.0]], np.float32),
    "y_zero_point": np.array([[0, 0], [0, 0]], np.int8),
}
expected = [np.array([[10, 20, 30, 40, 50], [60, 70, 80, 90, 100]], np.int8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
