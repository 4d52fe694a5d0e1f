"""openvino/onnx, other: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="002bbd01: RuntimeError...")
def test_bernoulli_002bbd01(check_onnx):
    # finding 002bbd0171a3f712
    # RuntimeError: Invalid attribute type UNDEFINED expected: INT, FLOAT
    # fails with: any call
    node = helper.make_node("Bernoulli", ["input"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [1])]
    results = [tensor("out0", TensorProto.FLOAT, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"input": np.array([1.0], np.float32)}
    expected = [np.array([1.0], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="243fb4bc: RuntimeError...")
def test_bernoulli_243fb4bc(check_onnx, data):
    # finding 243fb4bc3ca94bc2
    # RuntimeError: 'min_val' and 'max_val' should have the same type as 'out_type' a...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": np.ones(10, np.float64)}
    expected = [np.zeros(10, np.float64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="1f468644: RuntimeError...")
def test_col2im_1f468644(check_onnx):
    # finding 1f46864433a78c56
    # RuntimeError: Shape inference input shapes {[1,1,1],[1],[1]}
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (float[1,1,1] input) => (float[1,unk__0,unk__1] out0)
   <int64[1] image_shape = {1}, int64[1] block_shape = {1}> {
   out0 = Col2Im (input, image_shape, block_shape)
}
""")
    inputs = {"input": np.array([[[1.0]]], np.float32)}
    expected = [np.array([[[1.0]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="3011a213: values: ex...")
def test_spacetodepth_3011a213(check_onnx, data):
    # finding 3011a213dadb873f
    # values: expected False, got True (25% of the elements)
    # fails with: blocksize>1, values of input differ, mode=CRD
    node = helper.make_node(
        "SpaceToDepth", ["input"], ["out0"], blocksize=2, mode="CRD"
    )
    entries = [tensor("input", TensorProto.BOOL, [1, 2, 2, 2])]
    results = [tensor("out0", TensorProto.BOOL, [1, 8, 1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"input": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
