"""tinygrad/onnx: CenterCropPad: an odd size cut to an odd size, the window is one element too far left

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the size of an axis is odd, it is cut to a smaller odd size.
Actual: values: expected 2, got 1 (100% of the elements)
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
   opset_import: ["" : 18]
>
g (float[7] x, int64[1] shape) => (float[] y0) {
   y0 = CenterCropPad (x, shape)
}
""")
inputs = {"x": np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], np.float32), "shape": np.array([3], np.int64)}
expected = [np.array([2.0, 3.0, 4.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
