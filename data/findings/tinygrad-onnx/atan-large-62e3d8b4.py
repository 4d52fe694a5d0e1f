"""tinygrad/onnx: Atan: input of large magnitude, 0 or NaN in place of a right angle

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input is infinite or it is float32 or float64 and its square overflows.
Actual: values: expected 1.57079637, got 0 (100% of the elements)
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
g (float[2] x) => (float[] y0) {
   y0 = Atan (x)
}
""")
inputs = {"x": np.array([1.00000002e+20, -3.00000001e+38], np.float32)}
expected = [np.array([1.57079637, -1.57079637], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.002, atol=1e-06)
