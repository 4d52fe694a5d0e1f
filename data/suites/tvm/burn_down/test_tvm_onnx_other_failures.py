"""tvm/onnx, other: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="80718025: values: expected 0.8999999761581421, got 0.10000000149011612 (50% of the "
    "elements); fails with: input_var has a value !=0",
)
def test_batchnormalization_80718025(check_onnx):
    # finding 80718025415946ff
    # values: expected 0.8999999761581421, got 0.10000000149011612 (50% of the elements)
    # fails with: input_var has a value !=0
    # 1 more call fails for the same cause: BatchNormalization
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 15]>
single_operator (float[1,2] X) => (float[1,2] out0, float[2] out2)
   <float[2] scale = {1,2}, float[2] B = {2,1}, float[2] input_mean = {0,1},
      float[2] input_var = {1,0}> {
   out0, "", out2 = BatchNormalization <training_mode: int = 2> (X, scale, B, input_mean, input_var)
}
""")
    inputs = {"X": np.array([[2.0, 1.0]], np.float32)}
    expected = [np.array([[2.0, 1.0]], np.float32), np.array([0.9, 0.0], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="144b93fa: InternalError: CodeGenVM cannot emit this Relax operator directly. Run the "
    "appropriate lowering pass, or route the operator to an external codegen before VM "
    "codegen.; fails with: any call",
)
def test_constantofshape_144b93fa(check_onnx):
    # finding 144b93fa9724c58f
    # InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate
    # lowering pass, or route the operator to an external codegen before VM codegen.
    # fails with: any call
    # 2 more calls fail for the same cause: ConstantOfShape
    node = helper.make_node(
        "ConstantOfShape",
        ["input"],
        ["out0"],
        value=numpy_helper.from_array(np.array([1.0], np.float32)),
    )
    entries = [tensor("input", TensorProto.INT64, [2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1"])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"input": np.array([0, 1], np.int64)}
    expected = [np.zeros((0, 1), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="93adfdaf: dtype: expected bool, got float32; fails with: output 1 is wanted, "
    "dtype(data) is floating-point",
)
def test_dropout_93adfdaf(check_onnx):
    # finding 93adfdaf4b6d2011
    # dtype: expected bool, got float32
    # fails with: output 1 is wanted, dtype(data) is floating-point
    # 1 more call fails for the same cause: Dropout
    node = helper.make_node("Dropout", ["data"], ["out0", "out1"])
    entries = [tensor("data", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2]), tensor("out1", TensorProto.BOOL, [2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"data": np.array([1.0, 2.0], np.float32)}
    expected = [np.array([1.0, 2.0], np.float32), np.array([True, True], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="c2421566: ValueError: dtype mismatch between input (int64) and attribute (1); fails "
    "with: dtype is floating-point, dtype(input)!=float32",
)
def test_eyelike_c2421566(check_onnx):
    # finding c2421566ba9df51c
    # ValueError: dtype mismatch between input (int64) and attribute (1)
    # fails with: dtype is floating-point, dtype(input)!=float32
    # 1 more call fails for the same cause: EyeLike
    node = helper.make_node("EyeLike", ["input"], ["out0"], dtype=1)
    entries = [tensor("input", TensorProto.INT64, [2, 1])]
    results = [tensor("out0", TensorProto.FLOAT, [2, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"input": np.array([[0], [1]], np.int64)}
    expected = [np.array([[1.0], [0.0]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="0462e935: TypeError: Check failed: (opt_ptr.has_value()) is false: "
    "ErrorContext(fn=main, loc=param[0], param=input, annotation=R.Tensor) expect a Tensor "
    "but get ffi.Array",
)
def test_identity_0462e935(check_onnx):
    # finding 0462e9350d5d628e
    # TypeError: Check failed: (opt_ptr.has_value()) is false: ErrorContext(fn=main, loc=param[0],
    # param=input, annotation=R.Tensor) expect a Tensor but get ffi.Array
    # 1 more call fails for the same cause: Identity
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 16]>
single_operator (optional(seq(float[5])) input) => (optional(seq(float[5])) out0) {
   out0 = Identity (input)
}
""")
    inputs = {"input": []}
    expected = [[]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="2664d27d: values: expected False, got True; fails with: X has a value of +infinity, "
    "detect_positive=0",
)
def test_isinf_2664d27d(check_onnx):
    # finding 2664d27dc65576ed
    # values: expected False, got True
    # fails with: X has a value of +infinity, detect_positive=0
    node = helper.make_node("IsInf", ["X"], ["out0"], detect_positive=0)
    entries = [tensor("X", TensorProto.FLOAT, [1])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"X": np.array([np.inf], np.float32)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="3e6e3a69: values: expected False, got True; fails with: X has a value of -infinity, "
    "detect_negative=0",
)
def test_isinf_3e6e3a69(check_onnx):
    # finding 3e6e3a69985b2975
    # values: expected False, got True
    # fails with: X has a value of -infinity, detect_negative=0
    node = helper.make_node("IsInf", ["X"], ["out0"], detect_negative=0)
    entries = [tensor("X", TensorProto.FLOAT, [1])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"X": np.array([-np.inf], np.float32)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="8c6c9cc7: shape: expected [1], got []; fails with: output 1 is wanted",
)
def test_layernormalization_8c6c9cc7(check_onnx):
    # finding 8c6c9cc700f0fad1
    # shape: expected [1], got []
    # fails with: output 1 is wanted
    # 4 more calls fail for the same cause: LayerNormalization
    node = helper.make_node("LayerNormalization", ["X", "Scale"], ["out0", "out1"])
    entries = [tensor("X", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2]), tensor("out1", TensorProto.FLOAT, [1])]
    constants = [numpy_helper.from_array(np.array([2.0, 1.0], np.float32), "Scale")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 17)], ir_version=10)
    inputs = {"X": np.array([1.0, 2.0], np.float32)}
    expected = [np.array([-1.99996, 0.99998], np.float32), np.array([1.5], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="04a3b24c: shape: expected [2, 3], got [0, 3]; fails with: input form=runtime",
)
def test_nonmaxsuppression_04a3b24c(check_onnx, data):
    # finding 04a3b24c74b184eb
    # shape: expected [2, 3], got [0, 3]
    # fails with: input form=runtime
    # 3 more calls fail for the same cause: NonMaxSuppression
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 11]>
single_operator (float[1,1,4] boxes, float[1,2,1] scores, int64[2] max_output_boxes_per_class,
      float[2] iou_threshold)
    => (int64[unk__0,3] out0) {
   out0 = NonMaxSuppression (boxes, scores, max_output_boxes_per_class, iou_threshold)
}
""")
    inputs = {
        name: data[name]
        for name in ["boxes", "scores", "max_output_boxes_per_class", "iou_threshold"]
    }
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="d88522c1: TypeError: Mismatched type on argument #3 when calling: "
    "`relax.op.one_hot(0: ir.Expr, 1: ir.Expr, 2: ir.Expr, 3: int, 4: int) -> ir.Expr`. "
    "Expected `int` but got `float`; fails with: dtype(depth) is floating-point",
)
def test_onehot_d88522c1(check_onnx):
    # finding d88522c1e361ad15
    # TypeError: Mismatched type on argument #3 when calling: `relax.op.one_hot(0: ir.Expr, 1:
    # ir.Expr, 2: ir.Expr, 3: int, 4: int) -> ir.Expr`. Expected `int` but got `float`
    # fails with: dtype(depth) is floating-point
    # 3 more calls fail for the same cause: OneHot
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (int64[2] indices) => (int64[2,unk__0] out0)
   <float depth = {1}, int64[2] values = {1,0}> {
   out0 = OneHot (indices, depth, values)
}
""")
    inputs = {"indices": np.array([0, 1], np.int64)}
    expected = [np.array([[0], [1]], np.int64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="0253c96d: TypeError: Binary operators must have the same datatype for both operands. "
    "However, R.power(X, Y) uses datatype T.float32 on the LHS (Type of R.Tensor((2,), "
    "dtype='float32')), and datatype T.int64 on the RHS (Type of R.Tensor((2,), "
    "dtype='int64')).; fails with: dtype(X)!=dtype(Y), dtype(Y) is integer",
)
def test_pow_0253c96d(check_onnx):
    # finding 0253c96d9042e18e
    # TypeError: Binary operators must have the same datatype for both operands. However, R.power(X,
    # Y) uses datatype T.float32 on the LHS (Type of R.Tensor((2,), dtype="float32")), and datatype
    # T.int64 on the RHS (Type of R.Tensor((2,), dtype="int64")).
    # fails with: dtype(X)!=dtype(Y), dtype(Y) is integer
    # 1 more call fails for the same cause: Pow
    node = helper.make_node("Pow", ["X", "Y"], ["out0"])
    entries = [tensor("X", TensorProto.FLOAT, [2]), tensor("Y", TensorProto.INT64, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 15)], ir_version=10)
    inputs = {"X": np.array([2.0, 1.0], np.float32), "Y": np.array([0, 1], np.int64)}
    expected = [np.array([1.0, 1.0], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="143c493d: InternalError: Check failed: shape.size() == indices.size() (1 vs. 0) : "
    "Tensor dimension mismatch in read ndim = 1, indices.size=0",
)
def test_rmsnormalization_143c493d(check_onnx):
    # finding 143c493d62841776
    # InternalError: Check failed: shape.size() == indices.size() (1 vs. 0) : Tensor dimension
    # mismatch in read ndim = 1, indices.size=0
    node = helper.make_node("RMSNormalization", ["X", "scale"], ["out0"])
    entries = [tensor("X", TensorProto.FLOAT, [2]), tensor("scale", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 23)], ir_version=11)
    inputs = {"X": np.array([1.0, 2.0], np.float32), "scale": np.array([2.0, 1.0], np.float32)}
    expected = [np.array([1.2649086, 1.2649086], np.float32)]
    check_onnx(model, inputs, expected)
