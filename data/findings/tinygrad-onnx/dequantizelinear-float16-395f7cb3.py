"""tinygrad/onnx: DequantizeLinear: float16 scale and an integer beyond float16, infinity

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the scale is float16, x minus the zero point is 65520 or more in magnitude, its product with the scale is less.
Actual: values: expected 65.5625, got inf (50% of the elements)
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
g (uint16[2] x, float16 x_scale, uint16 x_zero_point) => (float16[] y0) {
   y0 = DequantizeLinear (x, x_scale, x_zero_point)
}
""")
inputs = {
    "x": np.array([65535, 1], np.uint16),
    "x_scale": np.array(0.00100040436, np.float16),
    "x_zero_point": np.array(0, np.uint16),
}
expected = [np.array([65.5625, 0.00100040436], np.float16)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.02, atol=1e-06)
