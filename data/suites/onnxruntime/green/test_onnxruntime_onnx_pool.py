"""onnxruntime/onnx, pool: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_averagepool_6188ca53(check_onnx, data):
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


def test_maxpool_8afa8185(check_onnx, data):
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
