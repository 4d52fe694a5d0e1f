"""tinygrad/onnx: Graph input: a dimension without value and name, every size is refused

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the shape of an input has a dimension with neither a value nor a name.
Actual: RuntimeError: input x has mismatch on dim=0. Expected None, received 2.
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
g (float[?] x) => (float[?] y) {
   y = Neg (x)
}
""")
inputs = {"x": np.array([1.0, 2.0], np.float32)}
expected = [np.array([-1.0, -2.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
