"""tvm/onnx, attention: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")


@pytest.mark.xfail(strict=True, raises=ValueError, reason="c402244f: ValueError: No...")
def test_attention_c402244f(check_onnx, data):
    # finding c402244f55c3c68c
    # ValueError: Node cannot handle ShapeExpr inputs.
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {
        "input0": np.ones((2, 3, 4, 8), np.float16),
        "input1": np.ones((2, 3, 8, 8), np.float16),
        "input2": np.ones((2, 3, 8, 8), np.float16),
        "input3": np.ones((1, 8), np.float16),
    }
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=KeyError, reason="cb98f554: KeyError: 'num_h...")
def test_attention_cb98f554(check_onnx, data):
    # finding cb98f5546860252b
    # KeyError: 'num_heads'
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,1] Q, float[1,1,1,1] K,
      float[1,1,1,1] V) => (float[1,1,1,1] out0) {
   out0 = Attention (Q, K, V)
}
""")
    inputs = {"Q": data["array0"], "K": data["array1"], "V": data["array2"]}
    expected = [np.array([[[[1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
