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


def test_pad_2ff82f09(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,3,4,5] data) => (float[1,3,4,12] out0)
   <int64[4] pads = {0,3,0,4}, float constant_value = {1.2}, int64[2] axes = {1,3}> {
   out0 = Pad <mode: string = "constant"> (data, pads, constant_value, axes)
}
""")
    inputs = {"data": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_reshape_b5eb9826(check_onnx):
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"], allowzero=1)
    entries = [tensor("data", TensorProto.FLOAT, [0, 3, 4])]
    results = [tensor("out0", TensorProto.FLOAT, [3, 4, 0])]
    constants = [numpy_helper.from_array(np.array([3, 4, 0], np.int64), "shape")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": np.zeros((0, 3, 4), np.float32)}
    expected = [np.zeros((3, 4, 0), np.float32)]
    check_onnx(model, inputs, expected)


def test_split_72fbdc6b(check_onnx, data):
    node = helper.make_node("Split", ["input"], ["out0", "out1"], axis=1, num_outputs=2)
    entries = [tensor("input", TensorProto.FLOAT, [2, 6])]
    results = [tensor("out0", TensorProto.FLOAT, [2, 3]), tensor("out1", TensorProto.FLOAT, [2, 3])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 18)], ir_version=10)
    inputs = {"input": data["array0"]}
    expected = [
        np.array([[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]], np.float32),
        np.array([[4.0, 5.0, 6.0], [10.0, 11.0, 12.0]], np.float32),
    ]
    check_onnx(model, inputs, expected)
