"""tinygrad/onnx: Resize: not_larger or not_smaller, the scale leaves out the sizes of batch and channels

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: keep_aspect_ratio_policy is not_larger or not_smaller, axes are not given or name batch or channels, sizes give batch and channels as they are, with the scale of all sizes an output size is another one than with that of the others alone.
Actual: shape: expected (1, 1, 2, 2), got (1, 1, 4, 4)
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
   opset_import: ["" : 19]
>
g (float[1,1,2,2] x, int64[4] sizes) => (float[] y0) {
   y0 = Resize <keep_aspect_ratio_policy: string = "not_larger", mode: string = "linear"> (x, "", "", sizes)
}
""")
inputs = {"x": np.array([[[[1.0, 2.0], [3.0, 4.0]]]], np.float32), "sizes": np.array([1, 1, 4, 6], np.int64)}
expected = [np.array([[[[1.0, 2.0], [3.0, 4.0]]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
