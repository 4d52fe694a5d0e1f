"""tinygrad/onnx: LessOrEqual and GreaterOrEqual: NaN, true

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the operator is LessOrEqual or GreaterOrEqual, an operand is NaN.
Actual: values: expected False, got True (100% of the elements)
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
g (float[2] a, float[2] b) => (bool[] y0) {
   y0 = LessOrEqual (a, b)
}
""")
inputs = {"a": np.array([np.nan, 1.0], np.float32), "b": np.array([1.0, np.nan], np.float32)}
expected = [np.array([False, False], np.bool_)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
