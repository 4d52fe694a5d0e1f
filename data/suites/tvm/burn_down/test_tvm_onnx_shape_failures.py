"""tvm/onnx, shape: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="c402244f: ValueError: Node cannot handle ShapeExpr inputs.; fails with: any call",
)
def test_attention_c402244f(check_onnx):
    # finding c402244f55c3c68c
    # ValueError: Node cannot handle ShapeExpr inputs.
    # fails with: any call
    # 26 more calls fail for the same cause: Attention, CausalConvWithState, CenterCropPad,
    # GroupNormalization, LayerNormalization, ...
    model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
graph (float[10,7,3] input0) => (float[20,10,3] output0)   <int64[3] input1 = {0,1,1}> {
   value3 = Constant <value: tensor = int64[1] {2}> ()  value4 = Shape (input0)
      value5 = Max (value4, input1)
   value6 = Sub (value5, value4)  value7 = Div (value6, value3)  value8 = Sub (value6, value7)
   value9 = Concat <axis: int = 0> (value7, value8)  value10 = Pad (input0, value9)
      value11 = Shape (value10)
   value12 = Sub (value11, input1)  value13 = Div (value12, value3)  value14 = Add (value13, input1)
   output0 = Slice (value10, value13, value14)  }
""")
    inputs = {"input0": np.ones((10, 7, 3), np.float32)}
    expected = [np.zeros((0, 1, 1), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AttributeError,
    reason="0a91fc6b: AttributeError: 'Var' object has no attribute 'value'; fails with: input "
    "form=runtime",
)
def test_pad_0a91fc6b(check_onnx, data):
    # finding 0a91fc6b0852de10
    # AttributeError: 'Var' object has no attribute 'value'
    # fails with: input form=runtime
    # 2 more calls fail for the same cause: Pad
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,2] data, int64[4] pads, float constant_value,
      int64[2] axes) => (float[?,?,?,?] out0) {
   out0 = Pad (data, pads, constant_value, axes)
}
""")
    inputs = {name: data[name] for name in ["data", "pads", "constant_value", "axes"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="c3430f09: TypeError: Reshape requires the input new shape to be Shape. However, the "
    "given one is relax.TensorType; fails with: input form=runtime",
)
def test_reshape_c3430f09(check_onnx):
    # finding c3430f0962f952fa
    # TypeError: Reshape requires the input new shape to be Shape. However, the given one is
    # relax.TensorType
    # fails with: input form=runtime
    # 6 more calls fail for the same cause: Reshape
    node = helper.make_node("Reshape", ["data", "shape"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [2]), tensor("shape", TensorProto.INT64, [2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1"])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"data": np.array([2.0, 1.0], np.float32), "shape": np.array([0, 1], np.int64)}
    expected = [np.array([[2.0], [1.0]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="634071c0: InternalError: Check failed: idx_node->value > back_node->value (0 vs. 0) : "
    "split_indices must be sorted; fails with: split is given",
)
def test_split_634071c0(check_onnx):
    # finding 634071c08954d10b
    # InternalError: Check failed: idx_node->value > back_node->value (0 vs. 0) : split_indices must
    # be sorted
    # fails with: split is given
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[0] input) => (float[?] out0, float[?] out1, float[?] out2)
   <int64[3] split = {0,0,0}> {
   out0, out1, out2 = Split (input, split)
}
""")
    inputs = {"input": np.zeros((0,), np.float32)}
    expected = [np.zeros((0,), np.float32), np.zeros((0,), np.float32), np.zeros((0,), np.float32)]
    check_onnx(model, inputs, expected)
