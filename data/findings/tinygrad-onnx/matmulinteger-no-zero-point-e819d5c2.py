"""tinygrad/onnx: MatMulInteger and ConvInteger: the second zero point without the first, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the zero point of the second operand is given, that of the first is left out.
Actual: RuntimeError: Could not infer dtype of None with type <class 'NoneType'>
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
   opset_import: ["" : 10]
>
g (uint8[1,2] a, uint8[2,1] b, uint8 bz) => (int32[] y0) {
   y0 = MatMulInteger (a, b, "", bz)
}
""")
inputs = {"a": np.array([[1, 2]], np.uint8), "b": np.array([[1], [2]], np.uint8), "bz": np.array(1, np.uint8)}
expected = [np.array([[2]], np.int32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
