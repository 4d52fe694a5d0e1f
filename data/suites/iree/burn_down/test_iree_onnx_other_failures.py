"""iree/onnx, other: known failures; README.md explains them."""

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


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="104e0735: CompilerToolError: failed to legalize operation "
    "'torch.constant.int': %0 = 'torch.constant.int'() <{value = 1 : i64}> : "
    "() -> !torch.int loc(unknown); fails with: any call",
)
def test_col2im_104e0735(check_onnx, data):
    # finding 104e073545a2f3e2
    # CompilerToolError: failed to legalize operation 'torch.constant.int': %0 =
    # "torch.constant.int"() <{value = 1 : i64}> : () -> !torch.int loc(unknown)
    # fails with: any call
    # 3 more calls fail for the same cause: Col2Im
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (bool[1,9,4] input) => (bool[1,unk__0,unk__1,unk__2] out0)
   <int64[2] image_shape = {5,5}, int64[2] block_shape = {3,3}> {
   out0 = Col2Im <strides: ints = [2, 2]> (input, image_shape, block_shape)
}
""")
    inputs = {"input": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="bcef376a: values: expected 9.0, got 36.0 (75% of the elements)",
)
def test_spacetodepth_bcef376a(check_onnx, data):
    # finding bcef376abfa41e53
    # values: expected 9.0, got 36.0 (75% of the elements)
    node = helper.make_node(
        "SpaceToDepth", ["input"], ["out0"], blocksize=2, mode="CRD"
    )
    entries = [tensor("input", TensorProto.FLOAT, [1, 2, 4, 6])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 8, 2, 3])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"input": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
