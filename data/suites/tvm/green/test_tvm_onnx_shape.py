"""tvm/onnx, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_reshape_7d4b7bf2(check_onnx, data):
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [2, 3, 4])]
    results = [tensor("out0", TensorProto.FLOAT, [2, 3, 4, 1])]
    constants = [numpy_helper.from_array(np.array([2, 0, 4, 1], np.int64), "shape")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_slice_4fe939f4(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data, int64[2] starts, int64[2] ends, int64[2] axes,
      int64[2] steps) => (float[3,10,5]
    out0) {
   out0 = Slice (data, starts, ends, axes, steps)
}
""")
    inputs = {name: data[name] for name in ["data", "starts", "ends", "axes", "steps"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


def test_slice_b67cbd7d(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data) => (float[20,10,1] out0)
   <int64[3] starts = {0,0,3}, int64[3] ends = {20,10,4}> {
   out0 = Slice (data, starts, ends)
}
""")
    inputs = {"data": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
