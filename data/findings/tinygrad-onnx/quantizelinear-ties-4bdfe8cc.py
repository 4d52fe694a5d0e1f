"""tinygrad/onnx: QuantizeLinear: halves and uint8, not rounded to the even number

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the output is uint8, x / y_scale is halfway between two numbers, the even one is the smaller and the sum with y_zero_point is between 2 and 255, or it is 1.5 at y_zero_point 0.
Actual: values: expected 2, got 1 (50% of the elements)
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
g (float[4] x, float y_scale, uint8 y_zero_point) => (uint8[] y0) {
   y0 = QuantizeLinear (x, y_scale, y_zero_point)
}
""")
inputs = {
    "x": np.array([0.5, 1.5, 2.5, 3.5], np.float32),
    "y_scale": np.array(1.0, np.float32),
    "y_zero_point": np.array(0, np.uint8),
}
expected = [np.array([0, 2, 2, 4], np.uint8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
