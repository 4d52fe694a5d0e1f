"""iree/onnx, loss: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_softmaxcrossentropyloss_b7d46936(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[3,5] scores, int64[3] labels, float[5] weights) => (float out0) {
   out0 = SoftmaxCrossEntropyLoss <ignore_index: int = 10,
      reduction: string = "sum"> (scores, labels, weights)
}
""")
    inputs = {
        "scores": data["array0"],
        "labels": np.array([10, 4, 3], np.int64),
        "weights": data["array1"],
    }
    expected = [np.array(2.0399737, np.float32)]
    check_onnx(model, inputs, expected)
