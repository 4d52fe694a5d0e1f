"""tinygrad/onnx: MaxPool: storage_order=1, the tensor of indices is transposed

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: output 1 is wanted, storage_order=1, the places numbered by rows, and transposed over the last two dimensions, are not the places numbered by columns.
Actual: values: expected 1, got 3 (75% of the elements)
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
g (float[1,1,3,3] x) => (float[] y0, int64[] y1) {
   y0, y1 = MaxPool <kernel_shape: ints = [2, 2], storage_order: int = 1> (x)
}
""")
inputs = {"x": np.array([[[[1.0, 3.0, 2.0], [7.0, 0.0, 5.0], [4.0, 6.0, 8.0]]]], np.float32)}
expected = [np.array([[[[7.0, 5.0], [7.0, 8.0]]]], np.float32), np.array([[[[1, 7], [1, 8]]]], np.int64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
