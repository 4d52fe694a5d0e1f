"""tinygrad/onnx: Asinh: negative input of large magnitude, minus infinity or digits lost

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input is negative, x + sqrt(x * x + 1) loses most of its digits, that is from about -200 (float32), -2500 (float16) or -1e7 (float64) on.
Actual: values: expected -12.2060728, got -inf (100% of the elements)
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
   y0 = Asinh (x)
}
""")
inputs = {"x": np.array([-100000.0, -3000.0], np.float32)}
expected = [np.array([-12.2060728, -8.69951439], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
