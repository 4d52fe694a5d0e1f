"""tinygrad/onnx: Shrink: infinite or NaN input, NaN

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: an element of the input is infinite or NaN, or in float32 and float64 the one of x + bias and x - bias that is not taken overflows, lambd is finite.
Actual: values: expected inf, got nan (100% of the elements)
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
   y0 = Shrink (x)
}
""")
inputs = {"x": np.array([np.inf, -np.inf], np.float32)}
expected = [np.array([np.inf, -np.inf], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
