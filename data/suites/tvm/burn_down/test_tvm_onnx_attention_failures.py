"""tvm/onnx, attention: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")


@pytest.mark.xfail(
    strict=True, raises=KeyError, reason="cb98f554: KeyError: 'num_heads'; fails with: any call"
)
def test_attention_cb98f554(check_onnx):
    # finding cb98f5546860252b
    # KeyError: 'num_heads'
    # fails with: any call
    # 5 more calls fail for the same cause: Attention
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,2] Q, float[1,1,1,2] K, float[1,1,1,2] V) => (float[1,1,1,2] out0) {
   out0 = Attention (Q, K, V)
}
""")
    inputs = {
        "Q": np.array([[[[1.0, 2.0]]]], np.float32),
        "K": np.array([[[[2.0, 1.0]]]], np.float32),
        "V": np.array([[[[0.0, 1.0]]]], np.float32),
    }
    expected = [np.array([[[[0.0, 1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
