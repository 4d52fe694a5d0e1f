"""tinygrad/onnx: ScatterND: data that is also used elsewhere, the other use gets the new elements

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: data of ScatterND, or data of rank 3 of TensorScatter, is used by another node or is an output of the graph or is an initializer and the runner is called again, the other use sees an element that the updates change.
Actual: values: expected 10, got 18 (33% of the elements)
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
   opset_import: ["" : 18]
>
g (float[3] x, int64[1,1] i, float[1] u) => (float[3] z) {
   y = ScatterND (x, i, u)
   z = Add (x, y)
}
""")
inputs = {"x": np.array([1.0, 2.0, 3.0], np.float32), "i": np.array([[0]], np.int64), "u": np.array([9.0], np.float32)}
expected = [np.array([10.0, 4.0, 6.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
