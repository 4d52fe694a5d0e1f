"""iree/onnx, attention: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="1ce13998: CompilerToolError: Error code: -11; fails with: any call",
)
def test_rotaryembedding_1ce13998(check_onnx, data):
    # finding 1ce13998a5ad4729
    # CompilerToolError: Error code: -11
    # fails with: any call
    # 2 more calls fail for the same cause: RotaryEmbedding
    model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
graph (float[2,4,3,8] input0, float[2,3,4] input1,
      float[2,3,4] input2) => (float[2,4,3,8] output0) {
   value4 = Constant <value: tensor = int64[1] {0}> ()
      value5 = Constant <value: tensor = int64[1] {0}> ()
   value6 = Constant <value: tensor = int64[1] {-1}> ()
      value7 = Transpose <perm: ints = [0, 2, 1, 3]> (input0)
   value8 = Shape <end: int = 4, start: int = 3> (value7)  value9 = Identity (value8)
   value10 = Constant <value: tensor = int64[1] {2}> ()  value11 = Sub (value8, value9)
   value12 = Concat <axis: int = 0> (value9, value11)
      value13, value14 = Split <axis: int = -1> (value7, value12)
   value15 = Identity (input1)  value16 = Identity (input2)
      value17 = Div (value9, value10)
   value18 = Cast <to: int = 7> (value17)
      value19 = Slice (value15, value4, value18, value10)
   value20 = Slice (value16, value4, value18, value10)
      value21 = Unsqueeze (value19, value10)
   value22 = Unsqueeze (value20, value10)
      value23, value24 = Split <axis: int = -1, num_outputs: int = 2> (value13)
   value25 = Mul (value21, value23)  value26 = Mul (value22, value24)
      value27 = Sub (value25, value26)
   value28 = Mul (value22, value23)  value29 = Mul (value21, value24)
      value30 = Add (value28, value29)
   value31 = Concat <axis: int = -1> (value27, value30)
      value32 = Concat <axis: int = -1> (value31, value14)
   value33 = Transpose <perm: ints = [0, 2, 1, 3]> (value32)  value34 = Shape (input0)
   output0 = Reshape (value33, value34)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=CompilerToolError,
    reason="2ec9d316: CompilerToolError: failed to legalize operation "
    "'torch.onnx.rotary_embedding' that was explicitly marked illegal: %3 = "
    "'torch.onnx.rotary_embedding'(%arg0, %arg1, %arg2, %arg3, %0, %0, %0, %1, "
    "%2) : (!torch.vtensor<[2,4,1,4],f32>, !torch.vtensor<[41,2],f32>, ; fails "
    "with: any call",
)
def test_rotaryembedding_2ec9d316(check_onnx, data):
    # finding 2ec9d31635d611d7
    # CompilerToolError: failed to legalize operation 'torch.onnx.rotary_embedding' that
    # was explicitly marked illegal: %3 = "torch.onnx.rotary_embedding"(%arg0, %arg1,
    # %arg2, %arg3, %0, %0, %0, %1, %2) : (!torch.vtensor<[2,4,1,4],f32>,
    # !torch.vtensor<[41,2],f32>,
    # fails with: any call
    # 1 more call fails for the same cause: RotaryEmbedding
    model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
single_operator (float[2,4,1,4] X, float[41,2] cos_cache, float[41,2] sin_cache,
      int64[2,1] position_ids) =>
    (float[2,4,1,4] out0) {
   out0 = RotaryEmbedding <rotary_embedding_dim: int = 4> (X, cos_cache, sin_cache,
      position_ids)
}
""")
    inputs = {
        name: data[name] for name in ["X", "cos_cache", "sin_cache", "position_ids"]
    }
    expected = [data["array2"]]
    check_onnx(model, inputs, expected)
