"""onnxruntime/onnx, loss: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_negativeloglikelihoodloss_d0447bbe(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[3,5] input, int64[3] target, float[5] weight) => (float out0) {
   out0 = NegativeLogLikelihoodLoss <ignore_index: int = 10,
      reduction: string = "sum"> (input, target, weight)
}
""")
    inputs = {
        "input": data["array0"],
        "target": np.array([10, 4, 3], np.int64),
        "weight": data["array1"],
    }
    expected = [np.array(-0.9869509, np.float32)]
    check_onnx(model, inputs, expected)


def test_softmaxcrossentropyloss_66db15d9(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[3,5,2] scores, int64[3,2] labels,
      float[5] weights) => (float out0, float[3,5,2] out1) {
   out0, out1 = SoftmaxCrossEntropyLoss <ignore_index: int = 1,
      reduction: string = "mean"> (scores, labels, weights)
}
""")
    inputs = {name: data[name] for name in ["scores", "labels", "weights"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)
