"""onnxruntime/onnx, attention: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
onnxruntime_pybind11_state = pytest.importorskip(
    "onnxruntime.capi.onnxruntime_pybind11_state"
)
Fail = onnxruntime_pybind11_state.Fail


@pytest.mark.xfail(strict=True, raises=Fail, reason="c0a5ec8d: Fail: Type Error: Ty...")
def test_attention_c0a5ec8d(check_onnx, data):
    # finding c0a5ec8d9ec78c80
    # Fail: Type Error: Type parameter (T) of Optype (Add) bound to different types (...
    # fails with: dtype(attn_mask) is floating-point, dtype(attn_mask)?dtype(nonpad_k...
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["Q", "K", "V"]}
    expected = [data["array3"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="c4a9fa19: inf: expec...")
def test_attention_c4a9fa19(check_onnx, data):
    # finding c4a9fa19c0b3b4f2
    # inf: expected -inf, got 1.0 (33% of the elements)
    # fails with: output 3 is wanted, dtype(Q)=float32, is_causal?0, qk_matmul_output...
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["Q", "K", "V", "past_key", "past_value"]}
    expected = [data[f"expected_{place}"] for place in range(4)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=Fail, reason="cecb12f8: Fail: onnxruntime::c...")
def test_attention_cecb12f8(check_onnx, data):
    # finding cecb12f8e4916cc3
    # Fail: onnxruntime::common::Status onnxruntime::attention_helper::ComputeOutputS...
    # fails with: shape(Q)?shape(V), dtype(attn_mask)=float32
    model = onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 24]>
single_operator (float[1,1,1,1] Q, float[1,1,2,1] K, float[1,1,2,1] V,
      float[1,1] attn_mask) => (float[1,1,1,1] out0) {
   out0 = Attention (Q, K, V, attn_mask, "", "")
}
""")
    inputs = {name: data[name] for name in ["Q", "K", "V", "attn_mask"]}
    expected = [data["array3"]]
    check_onnx(model, inputs, expected)
