"""tinygrad/onnx: LpNormalization: all elements along the axis are 0 at opset 22, NaN

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the opset is 22 or higher, all elements along the axis are 0 or at p=2 their squares vanish in the dtype.
Actual: values: expected 0, got nan (50% of the elements)
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
   opset_import: ["" : 22]
>
g (float[2,2] x) => (float[] y0) {
   y0 = LpNormalization (x)
}
""")
inputs = {"x": np.array([[0.0, 0.0], [1.0, 2.0]], np.float32)}
expected = [np.array([[0.0, 0.0], [0.44721359, 0.89442718]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
