"""tinygrad/onnx: RMSNormalization: float16 or bfloat16 scale, the output is float32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: scale is float16 or bfloat16, or the input is float64 and scale float32.
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
   ir_version: 11,
   opset_import: ["" : 23]
>
g (float16[1,3] x, float16[3] scale) => (float16[] y0) {
   y0 = RMSNormalization (x, scale)
}
""")
inputs = {"x": np.array([[1.0, 2.0, 3.0]], np.float16), "scale": np.array([1.0, 1.0, 1.0], np.float16)}
expected = [np.array([[0.462890625, 0.92578125, 1.38867188]], np.float16)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.01, atol=1e-06)
