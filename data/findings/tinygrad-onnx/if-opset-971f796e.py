"""tinygrad/onnx: If: a branch runs Softmax without axis, as at opset 1

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the branch of If that is taken has a Softmax without axis, the opset is 13 or higher, the rank of its input is not 2.
Actual: values: expected 0.268941402, got 0.119202919 (100% of the elements)
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
g (bool c, float[1,2,2] x) => (float[1,2,2] y) {
   y = If (c) <then_branch: graph = t () => (float[1,2,2] a) {
      a = Softmax (x)
   }, else_branch: graph = e () => (float[1,2,2] b) {
      b = Identity (x)
   }>
}
""")
inputs = {"c": np.array(True, np.bool_), "x": np.array([[[1.0, 2.0], [3.0, 5.0]]], np.float32)}
expected = [np.array([[[0.268941402, 0.731058598], [0.119202919, 0.880797029]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
