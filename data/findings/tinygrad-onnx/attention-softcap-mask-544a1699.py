"""tinygrad/onnx: Attention: softcap comes after the mask, masked keys take part

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: softcap is greater than 0 or output 3 is wanted with qk_matmul_output_mode=1, attn_mask changes or is_causal hides a score or softcap changes one in output 3 of mode 1.
Actual: values: expected 64.3107605, got 63.3798065 (100% of the elements)
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
g (float[1,1,2,1] Q, float[1,1,3,1] K, float[1,1,3,1] V, bool[2,3] attn_mask) => (float[] y0) {
   y0 = Attention <softcap: float = 2> (Q, K, V, attn_mask)
}
""")
inputs = {
    "Q": np.array([[[[1.0], [2.0]]]], np.float32),
    "K": np.array([[[[1.0], [2.0], [3.0]]]], np.float32),
    "V": np.array([[[[2.0], [4.0], [90.0]]]], np.float32),
    "attn_mask": np.array([[True, False, True], [True, True, False]], np.bool_),
}
expected = [np.array([[[[64.3107605], [3.19971299]]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
