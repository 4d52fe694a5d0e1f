"""openvino/onnx, attention: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="25069bb2: values: expected 0.0, got 2.0 (50% of the elements); fails with: dtype(Q)!=float32, Q has "
    "several elements, V has a value !=0, is_causal!=0, nonpad_kv_seqlen has a value !=0",
)
def test_attention_25069bb2(check_onnx):
    # finding 25069bb2cad4ddb5
    # values: expected 0.0, got 2.0 (50% of the elements)
    # fails with: dtype(Q)!=float32, Q has several elements, V has a value !=0, is_causal!=0, nonpad_kv_seqlen has a
    # value !=0
    model = onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 24]>
single_operator (double[1,1,2,1] Q, double[2,1,1,1] K, double[1,1,1,2] V) => (double[1,1,2,2] out0)
   <int64[1] nonpad_kv_seqlen = {1}> {
   out0 = Attention <is_causal: int = 1> (Q, K, V, "", "", "", nonpad_kv_seqlen)
}
""")
    inputs = {
        "Q": np.array([[[[1.0], [2.0]]]], np.float64),
        "K": np.array([[[[2.0]]], [[[1.0]]]], np.float64),
        "V": np.array([[[[2.0, 1.0]]]], np.float64),
    }
    expected = [np.array([[[[0.0, 0.0], [2.0, 1.0]]], [[[0.0, 0.0], [2.0, 1.0]]]], np.float64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="868f7658: values: expected 0.9930373430252075, got 2.8284270763397217; fails with: output 3 is wanted, K "
    "has a value !=0, Q has a value !=0, softcap>0",
)
def test_attention_868f7658(check_onnx):
    # finding 868f7658c7fb42a2
    # values: expected 0.9930373430252075, got 2.8284270763397217
    # fails with: output 3 is wanted, K has a value !=0, Q has a value !=0, softcap>0
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,2] Q, float[1,1,1,2] K, float[1,1,1,2] V) => (float[1,1,1,2] out0, float[1,1,1,1] out3) {
   out0, "", "", out3 = Attention <softcap: float = 1> (Q, K, V)
}
""")
    inputs = {
        "Q": np.array([[[[1.0, 2.0]]]], np.float32),
        "K": np.array([[[[2.0, 1.0]]]], np.float32),
        "V": np.array([[[[-1.0, 1.0]]]], np.float32),
    }
    expected = [np.array([[[[-1.0, 1.0]]]], np.float32), np.array([[[[0.99303734]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="b5906610: values: expected 1.0, got 1.1748777627944946; fails with: values of V differ, "
    "right_window_size!=-1",
)
def test_attention_b5906610(check_onnx):
    # finding b5906610e8a53b01
    # values: expected 1.0, got 1.1748777627944946
    # fails with: values of V differ, right_window_size!=-1
    # 1 more call fails for the same cause: Attention
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,2,1] Q, float[1,1,4,1] K, float[1,1,4,1] V) => (float[1,1,2,1] out0) {
   out0 = Attention <right_window_size: int = 1> (Q, K, V)
}
""")
    inputs = {
        "Q": np.array([[[[1.0], [2.0]]]], np.float32),
        "K": np.array([[[[2.0], [1.0], [1.0], [1.0]]]], np.float32),
        "V": np.array([[[[1.0], [1.0], [1.0], [2.0]]]], np.float32),
    }
    expected = [np.array([[[[1.0], [0.9999999]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True, raises=AssertionError, reason="e5a648f3: nan: expected 0.0, got nan (75% of the elements)"
)
def test_attention_e5a648f3(check_onnx, data):
    # finding e5a648f3532ead62
    # nan: expected 0.0, got nan (75% of the elements)
    # 1 more call fails for the same cause: Attention
    model = onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 24]>
graph (float[1,2,4,8] input0, float[1,2,4,8] input1, float[1,2,4,8] input2) => (float[1,2,4,8] output0)
   <int64[1] input3 = {1}> {  value5 = Shape <end: int = 1, start: int = 0> (input0)
   value6 = Shape <end: int = -1, start: int = -2> (input0)  value7 = Shape <end: int = -1, start: int = -2> (input1)
   value8 = Identity (input0)  value9 = Identity (input1)  value10 = Identity (input2)
   value11 = Shape <end: int = 2, start: int = 1> (value8)  value12 = Shape <end: int = 2, start: int = 1> (value9)
   value13 = Shape <end: int = 4, start: int = 3> (value8)  value14 = Cast <to: int = 1> (value13)
   value15 = Shape <end: int = 4, start: int = 3> (value10)  value16 = Sqrt (value14)
   value17 = Constant <value: tensor = int64[1] {1}> ()  value18 = Constant <value: tensor = int64[1] {-1}> ()
   value19 = Constant <value: tensor = float[1] {1}> ()  value20 = Constant <value: tensor = int64[1] {0}> ()
   value21 = Div (value19, value16)  value22 = Constant <value: tensor = float {1}> ()  value23 = Identity (value21)
   value24 = Sqrt (value23)  value25 = Cast <to: int = 1> (value24)  value26 = Identity (value9)
   value27 = Constant <value: tensor = int64[1] {0}> ()  value28 = Sub (input3, value6)  value29 = Identity (value10)
   value30 = Shape <end: int = -1, start: int = -2> (value26)  value31 = Concat <axis: int = 0> (value6, value30)
   value32 = Constant <value: tensor = float[1] {-inf}> ()  value33 = Constant <value: tensor = float[1] {0}> ()
   value34 = ConstantOfShape (value31)  value35 = Constant <value: tensor = int64[1] {0}> ()
   value36 = Constant <value: tensor = int64[1] {1}> ()  value37 = Squeeze (value35, value35)
   value38 = Squeeze (value36, value35)  value39 = Gather (value31, value37)  value40 = Gather (value31, value38)
   value41 = Range (value37, value39, value38)  value42 = Unsqueeze (value41, value36)
   value43 = Range (value37, value40, value38)  value44 = Unsqueeze (value43, value35)
   value45 = Constant <value: tensor = int64[2] {0,1}> ()  value46 = Constant <value: tensor = int64[3] {1,2,3}> ()
   value47 = Unsqueeze (value42, value45)  value48 = Unsqueeze (value44, value45)
   value49 = Unsqueeze (value28, value46)  value50 = Add (value47, value49)  value51 = Less (value50, value48)
   value52 = Where (value51, value32, value33)  value53 = CastLike (value52, value34)  value54 = Add (value34, value53)
   value55 = Unsqueeze (input3, value17)  value56 = Squeeze (value7)  value57 = Constant <value: tensor = int64 {0}> ()
   value58 = Constant <value: tensor = int64 {1}> ()  value59 = Range (value57, value56, value58)
   value60 = Less (value59, value55)  value61 = Where (value60, value33, value32)
   value62 = Unsqueeze (value61, value17)  value63 = Unsqueeze (value62, value17)  value64 = CastLike (value63, value54)
   value65 = Add (value54, value64)  value66 = Cast <to: int = 1> (value65)  value67 = Equal (value11, value12)
   value68 = Not (value67)  value69 = Div (value11, value12)  value70 = Cast <to: int = 7> (value69)
   value71 = Mod (value11, value12)  value72 = Equal (value71, value20)  value73 = And (value68, value72)
   value74 = Where (value73, value70, value17)  value75 = Constant <value: tensor = int64[1] {2}> ()
   value76 = Unsqueeze (value26, value75)  value77 = Unsqueeze (value29, value75)
   value78 = Concat <axis: int = 0> (value5, value12, value74, value30, value13)  value79 = Expand (value76, value78)
   value80 = Concat <axis: int = 0> (value5, value12, value74, value30, value15)  value81 = Expand (value77, value80)
   value82 = Concat <axis: int = 0> (value5, value11, value30, value13)
   value83 = Concat <axis: int = 0> (value5, value11, value30, value15)  value84 = Reshape (value79, value82)
   value85 = Reshape (value81, value83)  value86 = Transpose <perm: ints = [0, 1, 3, 2]> (value84)
   value87 = Mul (value8, value25)  value88 = Mul (value86, value25)  value89 = MatMul (value87, value88)
   value90 = Cast <to: int = 1> (value89)  value91 = Add (value90, value66)  value92 = Cast <to: int = 1> (value91)
   value93 = Softmax (value92)  value94 = Cast <to: int = 1> (value93)
   value95 = Constant <value: tensor = int64[1] {-1}> ()  value96 = ReduceMax (value66, value95)
   value97 = CastLike (value32, value66)  value98 = Equal (value96, value97)  value99 = CastLike (value33, value94)
   value100 = Where (value98, value99, value94)  value101 = MatMul (value100, value85)  output0 = Identity (value101)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeError,
    reason="31914d10: RuntimeError: value41, value42 num_scan_outputs can't be negative: body outputs (2) is less "
    "than num_initial_values (4)",
)
def test_linearattention_31914d10(check_onnx, data):
    # finding 31914d10c6ba3c9d
    # RuntimeError: value41, value42 num_scan_outputs can't be negative: body outputs (2) is less than
    # num_initial_values (4)
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
graph (float16[2,4,64] input0, float16[2,4,32] input1, float16[2,4,32] input2, float16[2,4,32] input3, float16[2,4,4]
    input4) => (float16[2,4,64] output0, float16[2,4,8,8] output1) {
   value7 = Constant <value: tensor = int64[1] {-1}> ()  value8 = Constant <value: tensor = int64[1] {1}> ()
   value9 = Constant <value: tensor = int64[1] {8}> ()  value10 = Constant <value: tensor = int64[1] {4}> ()
   value11 = Shape <end: int = 1, start: int = 0> (input0)  value12 = Shape <end: int = 2, start: int = 1> (input0)
   value13 = Concat <axis: int = 0> (value11, value12, value9, value7)  value14 = Reshape (input0, value13)
   value15 = Transpose <perm: ints = [1, 0, 2, 3]> (value14)
   value16 = Concat <axis: int = 0> (value11, value12, value10, value7)  value17 = Reshape (input1, value16)
   value18 = Transpose <perm: ints = [1, 0, 2, 3]> (value17)  value19 = Reshape (input2, value16)
   value20 = Transpose <perm: ints = [1, 0, 2, 3]> (value19)  value21 = Reshape (input3, value16)
   value22 = Transpose <perm: ints = [1, 0, 2, 3]> (value21)
   value23 = Concat <axis: int = 0> (value11, value12, value7, value8)  value24 = Reshape (input4, value23)
   value25 = Transpose <perm: ints = [1, 0, 2, 3]> (value24)  value26 = Shape <end: int = 3, start: int = 2> (input0)
   value27 = Shape <end: int = 3, start: int = 2> (input2)  value28 = Div (value26, value9)
   value29 = Div (value27, value10)  value30 = Concat <axis: int = 0> (value11, value10, value28, value29)
   value31 = ConstantOfShape (value30)  value32 = Squeeze (value28)  value33 = Cast <to: int = 1> (value32)
   value34 = Sqrt (value33)  value35 = Reciprocal (value34)  value36 = Constant <value: tensor = int64[1] {2}> ()
   value37 = Constant <value: tensor = int64[1] {2}> ()
   value38 = Concat <axis: int = 0> (value11, value10, value36, value28, value29)
   value39 = Concat <axis: int = 0> (value11, value9, value28, value29)
   value40 = Constant <value: tensor = int64[1] {-2}> ()
   value41, value42 = Scan (value31, value15, value18, value20, value22, value25) <body: graph = graph ( level1_input0,
       level1_input1, level1_input2, level1_input3, level1_input4, level1_input5) => ( level1_output0, level1_output1) {
      level1_value53 = Cast <to: int = 1> (level1_input1)  level1_value54 = Cast <to: int = 1> (level1_input2)
      level1_value55 = Cast <to: int = 1> (level1_input3)  level1_value56 = Cast <to: int = 1> (level1_input4)
      level1_value57 = Cast <to: int = 1> (level1_input5)  level1_value58 = Exp (level1_value56)
      level1_value59 = Unsqueeze (level1_value58, value7)  level1_value60 = Mul (level1_input0, level1_value59)
      level1_value61 = Unsqueeze (level1_value54, value7)
      level1_value62 = Transpose <perm: ints = [0, 1, 3, 2]> (level1_value60)
      level1_value63 = MatMul (level1_value62, level1_value61)  level1_value64 = Squeeze (level1_value63, value7)
      level1_value65 = Sub (level1_value55, level1_value64)  level1_value66 = Mul (level1_value57, level1_value65)
      level1_value67 = Unsqueeze (level1_value66, value40)  level1_value68 = MatMul (level1_value61, level1_value67)
      level1_output0 = Add (level1_value60, level1_value68)  level1_value69 = Unsqueeze (level1_output0, value37)
      level1_value70 = Expand (level1_value69, value38)  level1_value71 = Reshape (level1_value70, value39)
      level1_value72 = Unsqueeze (level1_value53, value40)  level1_value73 = MatMul (level1_value72, level1_value71)
      level1_value74 = Squeeze (level1_value73, value40)  level1_value75 = Mul (value35, level1_value74)
      level1_output1 = CastLike (level1_value75, level1_input1)  }, num_scan_inputs: int = 5>
   value43 = Transpose <perm: ints = [1, 0, 2, 3]> (value42)
   value44 = Concat <axis: int = 0> (value11, value12, value7)  output0 = Reshape (value43, value44)
   output1 = CastLike (value41, input0)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2", "input3", "input4"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeError,
    reason="723b3423: RuntimeError: value30, value31 Number of Scan node inputs (4) is less than required (5) based "
    "on body graph parameters and in_offset; fails with: any call",
)
def test_linearattention_723b3423(check_onnx, data):
    # finding 723b34231e0022ae
    # RuntimeError: value30, value31 Number of Scan node inputs (4) is less than required (5) based on body graph
    # parameters and in_offset
    # fails with: any call
    # 4 more calls fail for the same cause: LinearAttention
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
graph (float[2,1,32] input0, float[2,1,32] input1, float[2,1,32] input2) => (float[2,1,32] output0, float[2,4,8,8]
    output1) {  value5 = Constant <value: tensor = int64[1] {-1}> ()
   value6 = Constant <value: tensor = int64[1] {1}> ()  value7 = Constant <value: tensor = int64[1] {4}> ()
   value8 = Constant <value: tensor = int64[1] {4}> ()  value9 = Shape <end: int = 1, start: int = 0> (input0)
   value10 = Shape <end: int = 2, start: int = 1> (input0)
   value11 = Concat <axis: int = 0> (value9, value10, value7, value5)  value12 = Reshape (input0, value11)
   value13 = Transpose <perm: ints = [1, 0, 2, 3]> (value12)
   value14 = Concat <axis: int = 0> (value9, value10, value8, value5)  value15 = Reshape (input1, value14)
   value16 = Transpose <perm: ints = [1, 0, 2, 3]> (value15)  value17 = Reshape (input2, value14)
   value18 = Transpose <perm: ints = [1, 0, 2, 3]> (value17)  value19 = Shape <end: int = 3, start: int = 2> (input0)
   value20 = Shape <end: int = 3, start: int = 2> (input2)  value21 = Div (value19, value7)
   value22 = Div (value20, value8)  value23 = Concat <axis: int = 0> (value9, value8, value21, value22)
   value24 = ConstantOfShape (value23)  value25 = Squeeze (value21)  value26 = Cast <to: int = 1> (value25)
   value27 = Sqrt (value26)  value28 = Reciprocal (value27)  value29 = Constant <value: tensor = int64[1] {-2}> ()
   value30, value31 = Scan (value24, value13, value16, value18) <body: graph = graph ( level1_input0, level1_input1,
       level1_input2, level1_input3) => ( level1_output0, level1_output1) {
      level1_value40 = Cast <to: int = 1> (level1_input1)  level1_value41 = Cast <to: int = 1> (level1_input2)
      level1_value42 = Cast <to: int = 1> (level1_input3)  level1_value43 = Unsqueeze (level1_value41, value5)
      level1_value44 = Unsqueeze (level1_value42, value29)  level1_value45 = MatMul (level1_value43, level1_value44)
      level1_output0 = Add (level1_input0, level1_value45)  level1_value46 = Unsqueeze (level1_value40, value29)
      level1_value47 = MatMul (level1_value46, level1_output0)  level1_value48 = Squeeze (level1_value47, value29)
      level1_value49 = Mul (value28, level1_value48)  level1_output1 = CastLike (level1_value49, level1_input1)
   }, num_scan_inputs: int = 3>  value32 = Transpose <perm: ints = [1, 0, 2, 3]> (value31)
   value33 = Concat <axis: int = 0> (value9, value10, value5)  output0 = Reshape (value32, value33)
   output1 = CastLike (value30, input0)  }
""")
    inputs = {name: data[name] for name in ["input0", "input1", "input2"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)
