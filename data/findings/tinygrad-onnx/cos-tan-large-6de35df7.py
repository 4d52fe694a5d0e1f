"""tinygrad/onnx: Cos and Tan: float32 from about 1e4 on, digits lost, from 1e7 on all of them

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the operator is Cos or Tan, the input is float32, it is about 1e4 in magnitude or larger.
Actual: values: expected 0.873119652, got 0.487506062 (100% of the elements)
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
   y0 = Cos (x)
}
""")
inputs = {"x": np.array([10000000000.0], np.float32)}
expected = [np.array([0.873119652], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0002, atol=1e-06)
