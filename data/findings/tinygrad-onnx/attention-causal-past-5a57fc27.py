"""tinygrad/onnx: Attention: is_causal with past keys, the past counts as the future

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: is_causal=1, past_key has one key or more.
Actual: values: expected 1.5, got 1 (100% of the elements)
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 11,
   opset_import: ["" : 23]
>
g (float[1,1,2,1] Q, float[1,1,3,1] K, float[1,1,3,1] V, float[1,1,1,1] past_key, float[1,1,1,1] past_value) => (float[] y0, float[] y1, float[] y2) {
   y0, y1, y2 = Attention <is_causal: int = 1> (Q, K, V, "", past_key, past_value)
}
""")
inputs = {
    "Q": np.array([[[[1.0], [2.0]]]], np.float32),
    "K": np.array([[[[1.0], [2.0], [3.0]]]], np.float32),
    "V": np.array([[[[2.0], [4.0], [90.0]]]], np.float32),
    "past_key": np.array([[[[1.0]]]], np.float32),
    "past_value": np.array([[[[1.0]]]], np.float32),
}
expected = [
    np.array([[[[1.5], [3.46746516]]]], np.float32),
    np.array([[[[1.0], [1.0], [2.0], [3.0]]]], np.float32),
    np.array([[[[1.0], [2.0], [4.0], [90.0]]]], np.float32),
]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
