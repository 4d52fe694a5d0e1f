"""tinygrad/onnx: Pow: an exponent of a wider float than the base, the output has its dtype

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: base and exponent are floating-point numbers, the exponent has the wider dtype or one is float16 and the other bfloat16.
Actual: dtype: expected float16, got float32
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
g (float16[2] a, float[2] b) => (float16[] y0) {
   y0 = Pow (a, b)
}
""")
inputs = {"a": np.array([3.0, 7.0], np.float16), "b": np.array([2.0, 1.0], np.float32)}
expected = [np.array([9.0, 7.0], np.float16)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.001, atol=1e-06)
