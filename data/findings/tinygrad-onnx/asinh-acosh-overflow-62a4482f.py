"""tinygrad/onnx: Asinh and Acosh: input whose square overflows, infinite result

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the operator is Asinh or Acosh, the input is positive and finite, its square (float32, float64) or its double (float16) overflows.
Actual: values: expected 46.7448502, got inf (100% of the elements)
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
g (float[1] x) => (float[] y0) {
   y0 = Acosh (x)
}
""")
inputs = {"x": np.array([1.00000002e+20], np.float32)}
expected = [np.array([46.7448502], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.002, atol=1e-06)
