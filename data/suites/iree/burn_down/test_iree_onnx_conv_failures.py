"""iree/onnx, conv: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="b5be6312: Compile...")
def test_deformconv_b5be6312(check_onnx, data):
    # finding b5be6312d2fca957
    # CompilerToolError: failed to legalize operation 'torch.vtensor.literal': %0 = "...
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[1,2,3,3] X, float[1,2,2,2] W,
      float[1,16,2,2] offset) => (float[1,1,2,2] out0) {
   out0 = DeformConv <offset_group: int = 2> (X, W, offset)
}
""")
    inputs = {name: data[name] for name in ["X", "W", "offset"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
