"""tvm/onnx, conv: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_convtranspose_a6168e1a(check_onnx, data):
    node = helper.make_node(
        "ConvTranspose", ["X", "W"], ["out0"], auto_pad="SAME_UPPER", strides=[2, 2]
    )
    entries = [
        tensor("X", TensorProto.FLOAT, [1, 1, 3, 3]),
        tensor("W", TensorProto.FLOAT, [1, 2, 3, 3]),
    ]
    results = [tensor("out0", TensorProto.FLOAT, [1, 2, 6, 6])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"X": data["array1"], "W": np.ones((1, 2, 3, 3), np.float32)}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
