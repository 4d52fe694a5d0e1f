"""tinygrad/onnx: Conv, MaxPool, AveragePool: SAME and steps that skip elements, cuts the input

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: auto_pad is SAME_UPPER or SAME_LOWER, the last window ends before the input does, by two elements or more if it is SAME_LOWER.
Actual: values: expected 1, got 2 (100% of the elements)
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
g (float[1,1,5] x, float[1,1,1] w) => (float[] y0) {
   y0 = Conv <auto_pad: string = "SAME_UPPER", strides: ints = [3]> (x, w)
}
""")
inputs = {"x": np.array([[[1.0, 2.0, 3.0, 4.0, 5.0]]], np.float32), "w": np.array([[[1.0]]], np.float32)}
expected = [np.array([[[1.0, 4.0]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
