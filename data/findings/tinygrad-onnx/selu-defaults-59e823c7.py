"""tinygrad/onnx: Selu: alpha or gamma by default, rounded to six digits

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input is float32 or float64, an element is neither 0 nor plus infinity nor NaN, alpha is not given and this element is negative, or gamma is not given and the opset is 6 or higher.
Actual: values: expected -1.11133075, got -1.11132753 (100% of the elements)
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
   opset_import: ["" : 6]
>
g (float[2] x) => (float[] y0) {
   y0 = Selu (x)
}
""")
inputs = {"x": np.array([-1.0, 2.0], np.float32)}
expected = [np.array([-1.11133075, 2.10140204], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=4e-07, atol=1e-06)
