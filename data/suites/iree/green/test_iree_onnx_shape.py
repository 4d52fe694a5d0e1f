"""iree/onnx, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_reshape_14528c65(check_onnx, data):
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"])
    entries = [
        tensor("data", TensorProto.FLOAT, [2, 3, 4]),
        tensor("shape", TensorProto.INT64, [1]),
    ]
    results = [tensor("out0", TensorProto.FLOAT, [24])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": data["array0"], "shape": np.array([24], np.int64)}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


def test_reshape_1afcb96c(check_onnx, data):
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"])
    entries = [
        tensor("data", TensorProto.FLOAT, [2, 3, 4]),
        tensor("shape", TensorProto.INT64, [4]),
    ]
    results = [tensor("out0", TensorProto.FLOAT, [1, 2, 3, 4])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": data["array1"], "shape": np.array([-1, 2, 3, 4], np.int64)}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_slice_4fe939f4(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data) => (float[3,10,5] out0)
   <int64[2] starts = {0,0}, int64[2] ends = {3,10}, int64[2] axes = {0,1},
      int64[2] steps = {1,1}> {
   out0 = Slice (data, starts, ends, axes, steps)
}
""")
    inputs = {"data": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


def test_slice_b67cbd7d(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data, int64[3] starts,
      int64[3] ends) => (float[20,10,1] out0) {
   out0 = Slice (data, starts, ends)
}
""")
    inputs = {
        "data": data["array0"],
        "starts": np.array([0, 0, 3], np.int64),
        "ends": np.array([20, 10, 4], np.int64),
    }
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
