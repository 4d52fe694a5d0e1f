"""iree/onnx, recurrent: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_gru_32b1f564(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[3,1,2] X, float[1,18,2] W,
      float[1,18,6] R) => (float[3,1,1,6] out0, float[3,1,6] out1) {
   out0, out1 = GRU <hidden_size: int = 6, layout: int = 1> (X, W, R)
}
""")
    inputs = {
        "X": np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]], np.float32),
        "W": np.full((1, 18, 2), 0.2, np.float32),
        "R": np.full((1, 18, 6), 0.2, np.float32),
    }
    expected = [data["array0"], data["array1"]]
    check_onnx(model, inputs, expected)


def test_lstm_0a5667c4(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[3,1,2] X, float[1,28,2] W,
      float[1,28,7] R) => (float[3,1,1,7] out0, float[3,1,7] out1) {
   out0, out1 = LSTM <hidden_size: int = 7, layout: int = 1> (X, W, R)
}
""")
    inputs = {
        "X": np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]], np.float32),
        "W": np.full((1, 28, 2), 0.3, np.float32),
        "R": np.full((1, 28, 7), 0.3, np.float32),
    }
    expected = [data["array0"], data["array1"]]
    check_onnx(model, inputs, expected)
