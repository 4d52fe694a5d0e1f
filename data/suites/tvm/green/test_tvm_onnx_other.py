"""tvm/onnx, other: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_rmsnormalization_46eb75e7(check_onnx, data):
    node = helper.make_node(
        "RMSNormalization", ["X", "scale"], ["out0"], axis=-2, epsilon=0.10000000149011612
    )
    entries = [
        tensor("X", TensorProto.FLOAT, [2, 3, 5]),
        tensor("scale", TensorProto.FLOAT, [3, 5]),
    ]
    results = [tensor("out0", TensorProto.FLOAT, [2, 3, 5])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 23)], ir_version=11)
    inputs = {"X": data["array1"], "scale": data["array2"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
