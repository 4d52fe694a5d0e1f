"""tinygrad/onnx: MaxPool: indices of several channels or batches, counted from the start of each channel

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: output 1 is wanted, the input has more than one channel or batch.
Actual: values: expected 4, got 0 (50% of the elements)
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
g (float[1,2,2,2] x) => (float[] y0, int64[] y1) {
   y0, y1 = MaxPool <kernel_shape: ints = [2, 2]> (x)
}
""")
inputs = {"x": np.array([[[[1.0, 3.0], [2.0, 0.0]], [[5.0, 1.0], [0.0, 2.0]]]], np.float32)}
expected = [np.array([[[[3.0]], [[5.0]]]], np.float32), np.array([[[[1]], [[4]]]], np.int64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
