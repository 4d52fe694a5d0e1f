"""onnxruntime/onnx, loss: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_softmaxcrossentropyloss_5cccf9e0(check_onnx, data):
    node = helper.make_node(
        "SoftmaxCrossEntropyLoss", ["scores", "labels"], ["out0"], ignore_index=-5, reduction="none"
    )
    entries = [tensor("scores", TensorProto.FLOAT, [3, 5, 6, 6, 5]), tensor("labels", TensorProto.INT64, [3, 6, 6, 5])]
    results = [tensor("out0", TensorProto.FLOAT, [3, 6, 6, 5])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 13)], ir_version=10)
    inputs = {"scores": data["array0"], "labels": data["array2"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
