"""iree/onnx, other: tests that pass; README.md explains them."""

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


def test_clip_a8592676(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[3] input) => (float[3] out0)
   <float min = {-5}, float max = {5}> {
   out0 = Clip (input, min, max)
}
""")
    inputs = {"input": np.array([-1.0, 0.0, 6.0], np.float32)}
    expected = [np.array([-1.0, 0.0, 5.0], np.float32)]
    check_onnx(model, inputs, expected)


def test_min_ab7b57df(check_onnx):
    node = helper.make_node("Min", ["data_0_0", "data_0_1"], ["out0"])
    entries = [
        tensor("data_0_0", TensorProto.UINT32, [3]),
        tensor("data_0_1", TensorProto.UINT32, [3]),
    ]
    results = [tensor("out0", TensorProto.UINT32, [3])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 13)], ir_version=10)
    inputs = {
        "data_0_0": np.array([3, 2, 1], np.uint32),
        "data_0_1": np.array([1, 4, 4], np.uint32),
    }
    expected = [np.array([1, 2, 1], np.uint32)]
    check_onnx(model, inputs, expected)


def test_onehot_44364740(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (int64[3] indices) => (float[3,5] out0)
   <float depth = {5}, float[2] values = {1,3}> {
   out0 = OneHot <axis: int = 1> (indices, depth, values)
}
""")
    inputs = {"indices": np.array([5, -6, -1], np.int64)}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_range_f5094990(check_onnx):
    node = helper.make_node("Range", ["start", "limit", "delta"], ["out0"])
    entries = [tensor("start", TensorProto.INT32, [])]
    results = [tensor("out0", TensorProto.INT32, [2])]
    constants = [
        numpy_helper.from_array(np.array(6, np.int32), "limit"),
        numpy_helper.from_array(np.array(-3, np.int32), "delta"),
    ]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 27)], ir_version=13)
    inputs = {"start": np.array(10, np.int32)}
    expected = [np.array([10, 7], np.int32)]
    check_onnx(model, inputs, expected)
