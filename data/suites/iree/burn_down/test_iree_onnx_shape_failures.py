"""iree/onnx, shape: known failures; README.md explains them."""

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
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="0a40f164: CompilerToolError: Error code: -8; fails with: input form=baked",
)
def test_reshape_0a40f164(check_onnx):
    # finding 0a40f1640c3e7f7c
    # CompilerToolError: Error code: -8
    # fails with: input form=baked
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"], allowzero=0)
    entries = [tensor("data", TensorProto.FLOAT, [0, 1])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0"])]
    constants = [numpy_helper.from_array(np.array([0], np.int64), "shape")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": np.zeros((0, 1), np.float32)}
    expected = [np.zeros((0,), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="4c3c5d78: CompilerToolError: expected offsets to be non-negative, but got "
    "-1",
)
def test_slice_4c3c5d78(check_onnx, data):
    # finding 4c3c5d786230c4c3
    # CompilerToolError: expected offsets to be non-negative, but got -1
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data) => (float[19,3,2] out0)
   <int64[3] starts = {20,10,4}, int64[3] ends = {0,0,1}, int64[3] axes = {0,1,2},
      int64[3] steps = {-1,-3,-2}> {
   out0 = Slice (data, starts, ends, axes, steps)
}
""")
    inputs = {"data": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
