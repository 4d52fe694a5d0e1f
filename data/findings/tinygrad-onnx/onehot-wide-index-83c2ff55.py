"""tinygrad/onnx: OneHot: an index beyond int32, marks a place as if it were in range

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: indices are int64 or uint64, an index is out of the range of int32 and its low 32 bits are an index of the axis, of uint64 not a negative one.
Actual: values: expected 0, got 1 (17% of the elements)
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
g (int64[2] i, int64 d, float[2] v) => (float[] y0) {
   y0 = OneHot (i, d, v)
}
""")
inputs = {"i": np.array([4294967296, 1], np.int64), "d": np.array(3, np.int64), "v": np.array([0.0, 1.0], np.float32)}
expected = [np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
