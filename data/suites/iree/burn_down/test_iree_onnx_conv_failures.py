"""iree/onnx, conv: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="b5be6312: CompilerToolError: failed to legalize operation "
    "'torch.vtensor.literal': %0 = 'torch.vtensor.literal'() <{value = "
    "dense<1.000000e+00> : tensor<1x4x2x2xf32>}> : () -> "
    "!torch.vtensor<[1,4,2,2],f32> loc('<stdin>':4:10); fails with: any call",
)
def test_deformconv_b5be6312(check_onnx, data):
    # finding b5be6312d2fca957
    # CompilerToolError: failed to legalize operation 'torch.vtensor.literal': %0 =
    # "torch.vtensor.literal"() <{value = dense<1.000000e+00> : tensor<1x4x2x2xf32>}> :
    # () -> !torch.vtensor<[1,4,2,2],f32> loc("<stdin>":4:10)
    # fails with: any call
    # 3 more calls fail for the same cause: DeformConv
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[1,1,3,3] X, float[1,1,2,2] W,
      float[1,8,2,2] offset) => (float[1,1,2,2] out0) {
   out0 = DeformConv (X, W, offset)
}
""")
    inputs = {
        "X": data["array1"],
        "W": np.array([[[[1.0, 1.0], [1.0, 2.0]]]], np.float32),
        "offset": data["array0"],
    }
    expected = [np.array([[[[5.0, 2.0], [2.0, 0.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
