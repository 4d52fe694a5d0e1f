"""tinygrad/onnx: If: condition of one element and rank 1, the output has a dimension too many

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the condition has rank 1 or more, the outputs of both branches have one shape, their rank is lower than that of the condition.
Actual: shape: expected (), got (1,)
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 8,
   opset_import: ["" : 17]
>
g (bool[1] c, float x) => (float y) {
   y = If (c) <then_branch: graph = t () => (float a) {
      a = Neg (x)
   }, else_branch: graph = e () => (float b) {
      b = Identity (x)
   }>
}
""")
inputs = {"c": np.array([True], np.bool_), "x": np.array(2.0, np.float32)}
expected = [np.array(-2.0, np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
