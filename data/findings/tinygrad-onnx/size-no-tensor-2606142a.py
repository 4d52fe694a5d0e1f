"""tinygrad/onnx: Size: the output is a number of Python, no tensor

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the size is an output of the graph or goes to an operator that takes no Python number.
Actual: structure: expected tensor, got int
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
g (float[2,3] x) => (int64[] y0) {
   y0 = Size (x)
}
""")
inputs = {"x": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32)}
expected = [np.array(6, np.int64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
kinds = [type(value).__name__ for value in outputs.values()]
assert kinds == ["Tensor"], f"structure: expected tensor, got {kinds[0]}"
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
