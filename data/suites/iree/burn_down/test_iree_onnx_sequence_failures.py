"""iree/onnx, sequence: known failures; README.md explains them."""

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
    reason="a237d749: CompilerToolError: failed to legalize operation "
    "'torch.prim.Loop' that was explicitly marked illegal: %10 = "
    "'torch.prim.Loop'(%9, %3, %8) ({...}) : (!torch.int, !torch.bool, "
    "!torch.list<vtensor<[3],si64>>) -> !torch.list<vtensor<[3],si64>> "
    "loc('<stdin>':4:10); fails with: any call",
)
def test_sequencemap_a237d749(check_onnx, data):
    # finding a237d74921fd4014
    # CompilerToolError: failed to legalize operation 'torch.prim.Loop' that was
    # explicitly marked illegal: %10 = "torch.prim.Loop"(%9, %3, %8) ({...}) :
    # (!torch.int, !torch.bool, !torch.list<vtensor<[3],si64>>) ->
    # !torch.list<vtensor<[3],si64>> loc("<stdin>":4:10)
    # fails with: any call
    # 1 more call fails for the same cause: SequenceMap
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 17]>
single_operator (seq(float[H,W,C]) input_sequence) => (seq(int64[3]) out0) {
   out0 = SequenceMap (input_sequence) <body: graph = graph (float[H,W,C] input0) => (int64[3] output0) {
      output0 = Shape (input0)
   }>
}
""")
    inputs = {"input_sequence": [data["array0"], np.array([2.0, 1.0], np.float32)]}
    expected = [[np.array([2], np.int64), np.array([2], np.int64)]]
    check_onnx(model, inputs, expected)
