"""onnxruntime/onnx, attention: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_attention_8e5bc65c(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
graph (float[2,4,24] input0, float[2,6,24] input1, float[2,6,24] input2, float[4,18] input3, float[2,3,12,8] input4,
    float[2,3,12,8] input5) => (float[2,4,24] output0, float[2,3,18,8] output1, float[2,3,18,8] output2, float[2,3,4,18]
    output3) {  value10 = Shape <end: int = 1, start: int = 0> (input0)
   value11 = Shape <end: int = -1, start: int = -2> (input0)  value12 = Shape <end: int = -1, start: int = -2> (input1)
   value13 = Constant <value: tensor = int64[1] {3}> ()  value14 = Constant <value: tensor = int64[1] {3}> ()
   value15 = Constant <value: tensor = int64[1] {-1}> ()
   value16 = Concat <axis: int = 0> (value10, value11, value13, value15)
   value17 = Concat <axis: int = 0> (value10, value12, value14, value15)  value18 = Reshape (input0, value16)
   value19 = Reshape (input1, value17)  value20 = Reshape (input2, value17)
   value21 = Transpose <perm: ints = [0, 2, 1, 3]> (value18)  value22 = Transpose <perm: ints = [0, 2, 1, 3]> (value19)
   value23 = Transpose <perm: ints = [0, 2, 1, 3]> (value20)  value24 = Shape <end: int = 2, start: int = 1> (value21)
   value25 = Shape <end: int = 2, start: int = 1> (value22)  value26 = Shape <end: int = 4, start: int = 3> (value21)
   value27 = Cast <to: int = 1> (value26)  value28 = Shape <end: int = 4, start: int = 3> (value23)
   value29 = Sqrt (value27)  value30 = Constant <value: tensor = int64[1] {1}> ()
   value31 = Constant <value: tensor = float[1] {1}> ()  value32 = Constant <value: tensor = int64[1] {0}> ()
   value33 = Div (value31, value29)  value34 = Constant <value: tensor = float {1}> ()  value35 = Identity (value33)
   value36 = Sqrt (value35)  value37 = Cast <to: int = 1> (value36)  value38 = Concat <axis: int = 2> (input4, value22)
   value39 = Shape <end: int = -1, start: int = -2> (input4)  output1 = Identity (value38)
   value40 = Concat <axis: int = 2> (input5, value23)  output2 = Identity (value40)
   value41 = Shape <end: int = -1, start: int = -2> (value38)  value42 = Concat <axis: int = 0> (value11, value41)
   value43 = Constant <value: tensor = float[1] {-inf}> ()  value44 = Constant <value: tensor = float[1] {0}> ()
   value45 = Identity (input3)  value46 = Identity (value45)  value47 = Identity (value46)
   value48 = Cast <to: int = 1> (value47)  value49 = Equal (value24, value25)  value50 = Not (value49)
   value51 = Div (value24, value25)  value52 = Cast <to: int = 7> (value51)  value53 = Mod (value24, value25)
   value54 = Equal (value53, value32)  value55 = And (value50, value54)  value56 = Where (value55, value52, value30)
   value57 = Constant <value: tensor = int64[1] {2}> ()  value58 = Unsqueeze (value38, value57)
   value59 = Unsqueeze (value40, value57)
   value60 = Concat <axis: int = 0> (value10, value25, value56, value41, value26)  value61 = Expand (value58, value60)
   value62 = Concat <axis: int = 0> (value10, value25, value56, value41, value28)  value63 = Expand (value59, value62)
   value64 = Concat <axis: int = 0> (value10, value24, value41, value26)
   value65 = Concat <axis: int = 0> (value10, value24, value41, value28)  value66 = Reshape (value61, value64)
   value67 = Reshape (value63, value65)  value68 = Transpose <perm: ints = [0, 1, 3, 2]> (value66)
   value69 = Mul (value21, value37)  value70 = Mul (value68, value37)  value71 = MatMul (value69, value70)
   value72 = Cast <to: int = 1> (value71)  value73 = Constant <value: tensor = float[1] {2}> ()
   value74 = Cast <to: int = 1> (value73)  value75 = Div (value72, value74)  value76 = Tanh (value75)
   value77 = Mul (value76, value74)  value78 = Add (value77, value48)  value79 = Cast <to: int = 1> (value78)
   value80 = Softmax (value79)  value81 = Cast <to: int = 1> (value80)
   value82 = Constant <value: tensor = int64[1] {-1}> ()  value83 = ReduceMax (value48, value82)
   value84 = CastLike (value43, value48)  value85 = Equal (value83, value84)  value86 = CastLike (value44, value81)
   value87 = Where (value85, value86, value81)  output3 = Identity (value77)  value88 = MatMul (value87, value67)
   value89 = Transpose <perm: ints = [0, 2, 1, 3]> (value88)
   value90 = Concat <axis: int = 0> (value32, value32, value15)  output0 = Reshape (value89, value90)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2", "input3", "input4", "input5"]}
    expected = [data[f"expected_{place}"] for place in range(4)]
    check_onnx(model, inputs, expected)


def test_rotaryembedding_3d9b0941(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 11, opset_import: ["" : 23]>
graph (float[2,3,32] input0, float[50,4] input1, float[50,4] input2, int64[2,3] input3) => (float[2,3,32] output0) {
   value5 = Constant <value: tensor = int64[1] {0}> ()  value6 = Constant <value: tensor = int64[1] {4}> ()
   value7 = Constant <value: tensor = int64[1] {-1}> ()
   value8 = Concat <axis: int = 0> (value5, value5, value6, value7)  value9 = Reshape (input0, value8)
   value10 = Shape <end: int = 4, start: int = 3> (value9)  value11 = Identity (value10)
   value12 = Constant <value: tensor = int64[1] {2}> ()  value13 = Sub (value10, value11)
   value14 = Concat <axis: int = 0> (value11, value13)  value15, value16 = Split <axis: int = -1> (value9, value14)
   value17 = Gather (input1, input3)  value18 = Gather (input2, input3)  value19 = Div (value11, value12)
   value20 = Cast <to: int = 7> (value19)  value21 = Slice (value17, value5, value20, value12)
   value22 = Slice (value18, value5, value20, value12)  value23 = Unsqueeze (value21, value12)
   value24 = Unsqueeze (value22, value12)  value25, value26 = Split <axis: int = -1, num_outputs: int = 2> (value15)
   value27 = Mul (value23, value25)  value28 = Mul (value24, value26)  value29 = Sub (value27, value28)
   value30 = Mul (value24, value25)  value31 = Mul (value23, value26)  value32 = Add (value30, value31)
   value33 = Concat <axis: int = -1> (value29, value32)  value34 = Concat <axis: int = -1> (value33, value16)
   value35 = Identity (value34)  value36 = Shape (input0)  output0 = Reshape (value35, value36)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2", "input3"]}
    expected = [data["array2"]]
    check_onnx(model, inputs, expected)
