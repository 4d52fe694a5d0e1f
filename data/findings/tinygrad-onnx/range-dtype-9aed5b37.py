"""tinygrad/onnx: Range: int64, int16 or float64 operands, the output is int32 or float32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the operands are int16 or float64, or int64 with start and limit minus delta in the range of int32.
Actual: dtype: expected int64, got int32
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
g (int64 start, int64 limit, int64 delta) => (int64[] y0) {
   y0 = Range (start, limit, delta)
}
""")
inputs = {"start": np.array(0, np.int64), "limit": np.array(5, np.int64), "delta": np.array(2, np.int64)}
expected = [np.array([0, 2, 4], np.int64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
