"""tinygrad/onnx: Slice, Reshape, TopK, Pad, Tile: a second call with another shape or index, gets the first

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: a runner is called again, an input that tinygrad reads in Python (as starts of Slice, shape of Reshape, K of TopK, pads of Pad, repeats of Tile) has other values than in the first call.
Actual: shape: expected (3,), got (5,)
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
g (float[6] x, int64[1] s) => (float[N] y) {
   e = Constant <value_ints: ints = [6]> ()
   y = Slice (x, s, e)
}
""")
inputs = {"x": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], np.float32), "s": np.array([3], np.int64)}
expected = [np.array([4.0, 5.0, 6.0], np.float32)]

runner = OnnxRunner(Tensor(model.SerializeToString()))
[value.numpy() for value in runner({**inputs, "s": np.array([1], np.int64)}).values()]
outputs = runner(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
