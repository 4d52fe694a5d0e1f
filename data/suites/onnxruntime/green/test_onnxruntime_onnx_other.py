"""onnxruntime/onnx, other: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


def test_col2im_eb01f4d2(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (float[1,10,12] input) => (float[1,2,3,4,5] out0)
   <int64[3] image_shape = {3,4,5}, int64[3] block_shape = {1,1,5}> {
   out0 = Col2Im (input, image_shape, block_shape)
}
""")
    inputs = {"input": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


def test_labelencoder_97de6b04(check_onnx, data):
    node = helper.make_node(
        "LabelEncoder",
        ["X"],
        ["out0"],
        domain="ai.onnx.ml",
        default_tensor=numpy_helper.from_array(data["array2"]),
        keys_strings=["a", "b", "c"],
        values_tensor=numpy_helper.from_array(data["array1"]),
    )
    entries = [tensor("X", TensorProto.STRING, [5])]
    results = [tensor("out0", TensorProto.INT16, [5])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("ai.onnx.ml", 4)], ir_version=10)
    inputs = {"X": np.array(["a", "b", "d", "c", "g"], object)}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
