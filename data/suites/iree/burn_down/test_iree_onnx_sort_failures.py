"""iree/onnx, sort: known failures; README.md explains them."""

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


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="3645ad79: Compile...")
def test_compress_3645ad79(check_onnx):
    # finding 3645ad7974d9d49c
    # CompilerToolError: 'tensor.cast' op operand type 'tensor<?x1xi1>' and result ty...
    # fails with: any call
    node = helper.make_node("Compress", ["input", "condition"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0"])]
    constants = [numpy_helper.from_array(np.array([True], np.bool), "condition")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"input": np.array([1.0, 1.0], np.float32)}
    expected = [np.array([1.0], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="1c6c8158: Compile...")
def test_unique_1c6c8158(check_onnx, data):
    # finding 1c6c815895806395
    # CompilerToolError: failed to legalize operation 'torch.aten.scatter.src' that w...
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float[1,1] X) => (float[unk__0] out0, int64[unk__1] out1,
      int64[unk__2] out2, int64[unk__3] out3) {
   out0, out1, out2, out3 = Unique (X)
}
""")
    inputs = {"X": data["array0"]}
    expected = [data["array1"], data["array2"], data["array3"], np.array([1], np.int64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="cc01b8f9: Compile...")
def test_unique_cc01b8f9(check_onnx, data):
    # finding cc01b8f9c74d5ba8
    # CompilerToolError: operand and result must have the same size and dtype
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float[1] X) => (float[unk__0] out0, int64[unk__1] out1,
      int64[unk__2] out2, int64[unk__3] out3) {
   out0, out1, out2, out3 = Unique (X)
}
""")
    inputs = {"X": data["array0"]}
    expected = [data["array1"], data["array2"], data["array3"], np.array([1], np.int64)]
    check_onnx(model, inputs, expected)
