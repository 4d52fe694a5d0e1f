"""tinygrad/onnx: Graph input: no shape, every value of rank 1 or more is refused

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the type of an input has no shape, the value has rank 1 or more.
Actual: ValueError: zip() argument 2 is longer than argument 1
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
g (float[2] x) => (float[2] y) {
   y = Neg (x)
}
""")
model.graph.input[0].type.tensor_type.ClearField("shape")
inputs = {"x": np.array([1.0, 2.0], np.float32)}
expected = [np.array([-1.0, -2.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
