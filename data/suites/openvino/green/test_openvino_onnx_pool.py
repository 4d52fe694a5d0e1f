"""openvino/onnx, pool: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_maxpool_b1501108(check_onnx, data):
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)
