"""tinygrad/onnx: Mod: fmod=1 and a quotient that is rounded up or very large, wrong remainder

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: fmod=1, the operands are float32 or float64 or the divisor is infinite, rounding the quotient changes its whole part or the divisor is infinite.
Actual: values: expected 1, got 256 (100% of the elements)
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
g (float[1] a, float[1] b) => (float[] y0) {
   y0 = Mod <fmod: int = 1> (a, b)
}
""")
inputs = {"a": np.array([10000000000.0], np.float32), "b": np.array([3.0], np.float32)}
expected = [np.array([1.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.001, atol=1e-06)
