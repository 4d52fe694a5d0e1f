"""tinygrad/onnx: Split: num_outputs does not divide the axis, wrong sizes of the chunks

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: num_outputs is given, the size of the axis modulo num_outputs is neither 0 nor num_outputs minus 1, the larger chunks of the page fit into the axis.
Actual: shape: expected (3,), got (2,)
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
g (float[7] x) => (float[] y0, float[] y1, float[] y2) {
   y0, y1, y2 = Split <num_outputs: int = 3> (x)
}
""")
inputs = {"x": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], np.float32)}
expected = [np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0, 5.0, 6.0], np.float32), np.array([7.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
