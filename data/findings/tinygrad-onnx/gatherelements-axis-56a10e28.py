"""tinygrad/onnx: GatherElements: axis by default, crash

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: axis is not given.
Actual: TypeError: get_onnx_ops.<locals>.GatherElements() missing 1 required positional argument: 'axis'
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
g (float[2,2] x, int64[1,2] i) => (float[] y0) {
   y0 = GatherElements (x, i)
}
""")
inputs = {"x": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "i": np.array([[0, 1]], np.int64)}
expected = [np.array([[1.0, 4.0]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
