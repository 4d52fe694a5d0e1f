"""tinygrad/onnx: MaxUnpool: several channels or batches, elements beyond the first are lost

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input has more than one channel or batch, an element beyond the first channel of the first batch is not 0.
Actual: values: expected 2, got 0 (12% of the elements)
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
   opset_import: ["" : 11]
>
g (float[1,2,1,1] x, int64[1,2,1,1] i) => (float[] y0) {
   y0 = MaxUnpool <kernel_shape: ints = [2, 2], strides: ints = [2, 2]> (x, i)
}
""")
inputs = {"x": np.array([[[[1.0]], [[2.0]]]], np.float32), "i": np.array([[[[0]], [[5]]]], np.int64)}
expected = [np.array([[[[1.0, 0.0], [0.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
