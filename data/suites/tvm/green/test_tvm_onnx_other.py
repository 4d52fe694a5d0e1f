"""tvm/onnx, other: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_clip_d859cbb2(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 7, opset_import: ["" : 13]>
graph (float[3] input0) => (float[3] output0)
   <float input1 = {-5}, float input2 = {5}> {
   value4 = Less (input0, input1)
   value5 = Where (value4, input1, input0)
   value6 = Less (input2, value5)
   output0 = Where (value6, input2, value5)
}
""")
    inputs = {"input0": np.array([-1.0, 0.0, 6.0], np.float32)}
    expected = [np.array([-1.0, 0.0, 5.0], np.float32)]
    check_onnx(model, inputs, expected)


def test_mod_257b7917(check_onnx):
    node = helper.make_node("Mod", ["A", "B"], ["out0"], fmod=1)
    entries = [tensor("A", TensorProto.INT64, [6]), tensor("B", TensorProto.INT64, [6])]
    results = [tensor("out0", TensorProto.INT64, [6])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {
        "A": np.array([-4, 7, 5, 4, -7, 8], np.int64),
        "B": np.array([2, -3, 8, -2, 3, 5], np.int64),
    }
    expected = [np.array([0, 1, 5, 0, -1, 3], np.int64)]
    check_onnx(model, inputs, expected)


def test_trilu_4e4d5b15(check_onnx):
    node = helper.make_node("Trilu", ["input", "k"], ["out0"], upper=0)
    entries = [
        tensor("input", TensorProto.INT64, [3, 0, 5]),
        tensor("k", TensorProto.INT64, []),
    ]
    results = [tensor("out0", TensorProto.INT64, [3, 0, 5])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 14)], ir_version=10)
    inputs = {"input": np.zeros((3, 0, 5), np.int64), "k": np.array(6, np.int64)}
    expected = [np.zeros((3, 0, 5), np.int64)]
    check_onnx(model, inputs, expected)
