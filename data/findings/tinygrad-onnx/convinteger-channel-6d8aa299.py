"""tinygrad/onnx: ConvInteger: a zero point for each channel, it counts for columns of the kernel

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: w_zero_point has two elements or more, they are not all equal or the kernel has not as many columns as there are output channels.
Actual: values: expected 36, got 29 (100% of the elements)
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
g (uint8[1,1,3,3] x, uint8[2,1,2,2] w, uint8 x_zero_point, uint8[2] w_zero_point) => (int32[] y0) {
   y0 = ConvInteger (x, w, x_zero_point, w_zero_point)
}
""")
inputs = {
    "x": np.array([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]], np.uint8),
    "w": np.array([[[[3, 3], [3, 3]]], [[[3, 3], [3, 3]]]], np.uint8),
    "x_zero_point": np.array(0, np.uint8),
    "w_zero_point": np.array([0, 1], np.uint8),
}
expected = [np.array([[[[36, 48], [72, 84]], [[24, 32], [48, 56]]]], np.int32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
