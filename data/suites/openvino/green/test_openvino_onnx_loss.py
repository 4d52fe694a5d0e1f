"""openvino/onnx, loss: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_negativeloglikelihoodloss_caa70ebb(check_onnx, data):
    node = helper.make_node(
        "NegativeLogLikelihoodLoss", ["input", "target"], ["out0"], reduction="none"
    )
    entries = [tensor("input", TensorProto.FLOAT, [3, 5])]
    results = [tensor("out0", TensorProto.FLOAT, [3])]
    constants = [numpy_helper.from_array(np.array([1, 4, 3], np.int64), "target")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"input": data["array0"]}
    expected = [np.array([-0.71518934, -0.3834415, -0.92559665], np.float32)]
    check_onnx(model, inputs, expected)


def test_softmaxcrossentropyloss_3f4bfce5(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[3,5] scores, int64[3] labels, float[5] weights) => (float out0,
      float[3,5] out1) {
   out0, out1 = SoftmaxCrossEntropyLoss <ignore_index: int = 0,
      reduction: string = "mean"> (scores, labels, weights)
}
""")
    inputs = {name: data[name] for name in ["scores", "labels", "weights"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)
