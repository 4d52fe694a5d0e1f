"""openvino/onnx, attention: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_attention_d270e573(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 24]>
single_operator (float[1,2,4,8] Q, float[1,2,4,8] K, float[1,2,4,8] V,
      int64[1] nonpad_kv_seqlen) => (float[1,2,4,8]
    out0) {
   out0 = Attention <is_causal: int = 1> (Q, K, V, "", "", "", nonpad_kv_seqlen)
}
""")
    inputs = {name: data[name] for name in ["Q", "K", "V", "nonpad_kv_seqlen"]}
    expected = [data["array3"]]
    check_onnx(model, inputs, expected)


def test_rotaryembedding_2a29b0bf(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
single_operator (float[2,4,3,8] X, float[50,2] cos_cache, float[50,2] sin_cache,
      int64[2,3] position_ids) =>
    (float[2,4,3,8] out0) {
   out0 = RotaryEmbedding <interleaved: int = 1, rotary_embedding_dim: int = 4> (X,
      cos_cache, sin_cache, position_ids)
}
""")
    inputs = {
        name: data[name] for name in ["X", "cos_cache", "sin_cache", "position_ids"]
    }
    expected = [data["array3"]]
    check_onnx(model, inputs, expected)
