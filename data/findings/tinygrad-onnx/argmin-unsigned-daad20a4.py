"""tinygrad/onnx: ArgMin: 0 of an unsigned or the lowest signed integer, its index is not found

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input has an integer dtype, its minimum is 0 of an unsigned dtype or the lowest number of a signed dtype, a larger number is there as well, the input is neither a vector of four or more uint8 or uint16 nor one of two int32 or int64.
Actual: values: expected 1, got 2 (100% of the elements)
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
g (uint8[3] x) => (int64[] y0) {
   y0 = ArgMin (x)
}
""")
inputs = {"x": np.array([3, 0, 2], np.uint8)}
expected = [np.array([1], np.int64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
