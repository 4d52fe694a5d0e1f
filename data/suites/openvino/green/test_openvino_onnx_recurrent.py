"""openvino/onnx, recurrent: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_gru_8775b22a(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[1,3,3] X, float[1,9,3] W, float[1,9,3] R, float[1,18] B) => (float[1,3,3] out1) {
   "", out1 = GRU <hidden_size: int = 3> (X, W, R, B)
}
""")
    inputs = {
        "X": np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]], np.float32),
        "W": np.full((1, 9, 3), 0.1, np.float32),
        "R": np.full((1, 9, 3), 0.1, np.float32),
        "B": data["array1"],
    }
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_lstm_e51b15c7(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[3,1,2] X, float[1,12,2] W, float[1,12,3] R) => (float[1,1,3] out1, float[1,1,3] out2) {
   "", out1, out2 = LSTM <direction: string = "reverse", hidden_size: int = 3> (X, W, R)
}
""")
    inputs = {
        "X": np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]], np.float32),
        "W": np.full((1, 12, 2), 0.1, np.float32),
        "R": np.full((1, 12, 3), 0.1, np.float32),
    }
    expected = [np.full((1, 1, 3), 0.40412503, np.float32), np.full((1, 1, 3), 0.7970233, np.float32)]
    check_onnx(model, inputs, expected)
