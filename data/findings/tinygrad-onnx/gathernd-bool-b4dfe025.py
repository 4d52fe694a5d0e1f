"""tinygrad/onnx: GatherND: bool data and index tuples of two or more, the output is int32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the data is bool, an index tuple with the batch dimensions has two numbers or more.
Actual: dtype: expected bool, got int32
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
g (bool[2,2] x, int64[2,2] i) => (bool[] y0) {
   y0 = GatherND (x, i)
}
""")
inputs = {"x": np.array([[True, False], [False, True]], np.bool_), "i": np.array([[0, 1], [1, 1]], np.int64)}
expected = [np.array([False, True], np.bool_)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
