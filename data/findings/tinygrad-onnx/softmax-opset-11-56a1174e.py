"""tinygrad/onnx: Softmax: dimensions behind axis at opset 1 to 12, it normalises along axis alone

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: opset is 12 or lower, a dimension behind axis (by default 1) is longer than 1.
Actual: values: expected 0.0152194286, got 0.119202919 (100% of the elements)
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
g (float[1,2,2] x) => (float[] y0) {
   y0 = Softmax (x)
}
""")
inputs = {"x": np.array([[[1.0, 2.0], [3.0, 5.0]]], np.float32)}
expected = [np.array([[[0.0152194286, 0.0413706936], [0.112457208, 0.830952644]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.001, atol=1e-06)
