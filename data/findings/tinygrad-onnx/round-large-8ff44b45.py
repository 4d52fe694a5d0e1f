"""tinygrad/onnx: Round: odd whole numbers from 2 to the power 23 on, another whole number

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input is an odd whole number whose neighbours are one apart in its dtype.
Actual: values: expected 8388609, got 8388610 (100% of the elements)
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
   y0 = Round (x)
}
""")
inputs = {"x": np.array([8388609.0, 16777215.0], np.float32)}
expected = [np.array([8388609.0, 16777215.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-17, atol=1e-06)
