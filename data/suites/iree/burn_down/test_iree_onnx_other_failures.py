"""iree/onnx, other: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="104e0735: Compile...")
def test_col2im_104e0735(check_onnx):
    # finding 104e073545a2f3e2
    # CompilerToolError: failed to legalize operation 'torch.constant.int': %0 = "tor...
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (float[1,1,1] input) => (float[1,unk__0,unk__1,unk__2] out0)
   <int64[2] image_shape = {1,1}, int64[2] block_shape = {1,1}> {
   out0 = Col2Im (input, image_shape, block_shape)
}
""")
    inputs = {"input": np.array([[[1.0]]], np.float32)}
    expected = [np.array([[[[1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="443aecd5: values: ex...")
def test_spacetodepth_443aecd5(check_onnx, data):
    # finding 443aecd502b4c6c6
    # values: expected True, got False (25% of the elements)
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
