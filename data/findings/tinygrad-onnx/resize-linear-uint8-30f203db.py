"""tinygrad/onnx: Resize: linear, uint8 and neighbours more than 127 apart, values wrap around

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: mode=linear, the input is uint8, of two elements between which it interpolates the second is more than 127 larger or more than 128 smaller than the first.
Actual: values: expected 50, got 242 (50% of the elements)
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
g (uint8[1,1,2,2] x, float[4] scales) => (uint8[] y0) {
   y0 = Resize <mode: string = "linear"> (x, "", scales)
}
""")
inputs = {"x": np.array([[[[0, 200], [0, 200]]]], np.uint8), "scales": np.array([1.0, 1.0, 1.0, 2.0], np.float32)}
expected = [np.array([[[[0, 50, 150, 200], [0, 50, 150, 200]]]], np.uint8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
