"""tvm/onnx, sort: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("tvm")


def test_unique_9f4eedd2(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (bfloat16[6] X) => (bfloat16[4] out0, int64[4] out1, int64[6] out2, int64[4] out3) {
   out0, out1, out2, out3 = Unique <sorted: int = 1> (X)
}
""")
    inputs = {"X": np.array([2.0, 1.0, 1.0, 3.0, 4.0, 3.0], ml_dtypes.bfloat16)}
    expected = [
        np.array([1.0, 2.0, 3.0, 4.0], ml_dtypes.bfloat16),
        np.array([1, 0, 3, 4], np.int64),
        np.array([1, 0, 0, 2, 3, 2], np.int64),
        np.array([2, 1, 2, 1], np.int64),
    ]
    check_onnx(model, inputs, expected)
