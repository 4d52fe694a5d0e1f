"""onnxruntime/onnx, sequence: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_sequencemap_3173c402(check_onnx, data):
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {
        "input_sequence": [
            np.zeros((40, 30, 3), np.float32),
            np.zeros((20, 10, 3), np.float32),
            np.zeros((10, 5, 3), np.float32),
        ]
    }
    expected = [[data["array0"], data["array1"], data["array2"]]]
    check_onnx(model, inputs, expected)
