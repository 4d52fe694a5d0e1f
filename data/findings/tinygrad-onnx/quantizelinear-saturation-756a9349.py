"""tinygrad/onnx: QuantizeLinear: quotient beyond int32 and uint8, 0 in place of 255

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the output is uint8, x / y_scale + y_zero_point, rounded to float32, is 2 to the power 31 or larger.
Actual: values: expected 255, got 0 (100% of the elements)
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
g (float[2] x, float y_scale, uint8 y_zero_point) => (uint8[] y0) {
   y0 = QuantizeLinear (x, y_scale, y_zero_point)
}
""")
inputs = {
    "x": np.array([10000000000.0, 3000000000.0], np.float32),
    "y_scale": np.array(1.0, np.float32),
    "y_zero_point": np.array(0, np.uint8),
}
expected = [np.array([255, 255], np.uint8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
