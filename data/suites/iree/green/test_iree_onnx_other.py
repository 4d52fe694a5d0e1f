"""iree/onnx, other: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_spacetodepth_653480ce(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
graph (float[1,2,4,6] input0) => (float[1,8,2,3] output0) {
      value2 = Constant <value: tensor = int64[1] {2}> ()
   value3 = Constant <value: tensor = int64[1] {4}> ()
      value4 = Constant <value: tensor = int64[1] {0}> ()
   value5 = Constant <value: tensor = int64[1] {1}> ()
      value6 = Constant <value: tensor = int64[1] {2}> ()
   value7 = Constant <value: tensor = int64[1] {3}> ()
      value8 = Constant <value: tensor = int64[1] {4}> ()
   value9 = Shape (input0)  value10 = Slice (value9, value4, value5)
      value11 = Slice (value9, value5, value6)
   value12 = Slice (value9, value6, value7)  value13 = Slice (value9, value7, value8)
      value14 = Div (value12, value2)
   value15 = Div (value13, value2)  value16 = Mul (value11, value3)
   value17 = Concat <axis: int = 0> (value10, value11, value14, value2, value15, value2)
   value18 = Reshape <allowzero: int = 1> (input0, value17)
   value19 = Transpose <perm: ints = [0, 1, 3, 5, 2, 4]> (value18)
   value20 = Concat <axis: int = 0> (value10, value16, value14, value15)
   output0 = Reshape <allowzero: int = 1> (value19, value20)  }
""")
    inputs = {"input0": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
