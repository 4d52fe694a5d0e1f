"""iree/onnx, attention: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_attention_8e5bc65c(check_onnx, data):
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {
        name: data[name]
        for name in ["input0", "input1", "input2", "input3", "input4", "input5"]
    }
    expected = [data[f"expected_{place}"] for place in range(4)]
    check_onnx(model, inputs, expected)
