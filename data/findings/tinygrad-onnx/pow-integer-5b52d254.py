"""tinygrad/onnx: Pow: an integer power from about 400,000 on, wrong low digits

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the base is an integer, the exponent is not float64, the power has more than 24 significant bits.
Actual: values: expected 1162261467, got 1162260608 (100% of the elements)
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
g (int32[1] a, int32[1] b) => (int32[] y0) {
   y0 = Pow (a, b)
}
""")
inputs = {"a": np.array([3], np.int32), "b": np.array([19], np.int32)}
expected = [np.array([1162261467], np.int32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
