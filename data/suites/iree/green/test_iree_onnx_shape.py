"""iree/onnx, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


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


def test_split_e6db40c2(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[0] input, int64[3] split) => (float[0] out0, float[0] out1,
      float[0] out2) {
   out0, out1, out2 = Split (input, split)
}
""")
    inputs = {"input": np.zeros((0,), np.float32), "split": np.zeros(3, np.int64)}
    expected = [
        np.zeros((0,), np.float32),
        np.zeros((0,), np.float32),
        np.zeros((0,), np.float32),
    ]
    check_onnx(model, inputs, expected)


def test_unsqueeze_7386c380(check_onnx, data):
    node = helper.make_node("Unsqueeze", ["data", "axes"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [1, 3, 1, 5])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 3, 1, 1, 5])]
    constants = [numpy_helper.from_array(np.array([-2], np.int64), "axes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
