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


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="80718025: values: ex...")
def test_batchnormalization_80718025(check_onnx, data):
    # finding 80718025415946ff
    # values: expected 0.8999999761581421, got 0.10000000149011612
    # fails with: input_var has a value ?0
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data[f"expected_{place}"] for place in range(3)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="144b93fa: InternalErr...")
def test_constantofshape_144b93fa(check_onnx, data):
    # finding 144b93fa9724c58f
    # InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appr...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input": data["array2"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="93adfdaf: dtype: exp...")
def test_dropout_93adfdaf(check_onnx, data):
    # finding 93adfdaf4b6d2011
    # dtype: expected bool, got float32
    # fails with: output 1 is wanted, dtype(data) is floating-point
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"data": data["array0"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=ValueError, reason="c2421566: ValueError: dt...")
def test_eyelike_c2421566(check_onnx):
    # finding c2421566ba9df51c
    # ValueError: dtype mismatch between input (int64) and attribute (1)
    # fails with: dtype is floating-point, dtype(input)?float32
    node = helper.make_node("EyeLike", ["input"], ["out0"], dtype=1)
    entries = [tensor("input", TensorProto.INT64, [1, 1])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"input": np.array([[1]], np.int64)}
    expected = [np.array([[1.0]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="0462e935: TypeError: Chec...")
def test_identity_0462e935(check_onnx):
    # finding 0462e9350d5d628e
    # TypeError: Check failed: (opt_ptr.has_value()) is false: ErrorContext(fn=main, ...
    # fails with: any call
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 16]>
single_operator (optional(seq(float[5])) input) => (optional(seq(float[5])) out0) {
   out0 = Identity (input)
}
""")
    inputs = {"input": [np.array(1.0, np.float32)]}
    expected = [[np.array(1.0, np.float32)]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="3e6e3a69: values: ex...")
def test_isinf_3e6e3a69(check_onnx):
    # finding 3e6e3a69985b2975
    # values: expected False, got True
    # fails with: X has an infinity, detect_positive=0
    node = helper.make_node("IsInf", ["X"], ["out0"], detect_positive=0)
    entries = [tensor("X", TensorProto.FLOAT, [])]
    results = [tensor("out0", TensorProto.BOOL, [])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"X": np.array(np.inf, np.float32)}
    expected = [np.array(False, np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="8c6c9cc7: shape: exp...")
def test_layernormalization_8c6c9cc7(check_onnx, data):
    # finding 8c6c9cc700f0fad1
    # shape: expected [1], got []
    # fails with: output 1 is wanted
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["X", "Scale"]}
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="04a3b24c: shape: exp...")
def test_nonmaxsuppression_04a3b24c(check_onnx, data):
    # finding 04a3b24c74b184eb
    # shape: expected [1, 3], got [0, 3]
    # fails with: input form=runtime, max_output_boxes_per_class has a value ?0
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {
        name: data[name]
        for name in ["boxes", "scores", "max_output_boxes_per_class", "iou_threshold"]
    }
    expected = [np.zeros((1, 3), np.int64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="dd3be7ee: TypeError: Mism...")
def test_onehot_dd3be7ee(check_onnx):
    # finding dd3be7ee4ea001d3
    # TypeError: Mismatched type on argument #3 when calling: `relax.op.one_hot(0: ir...
    # fails with: dtype(depth) is floating-point
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float[1] indices) => (float[1,unk__0] out0)
   <float depth = {1}, float[2] values = {1,1}> {
   out0 = OneHot (indices, depth, values)
}
""")
    inputs = {"indices": np.array([1.0], np.float32)}
    expected = [np.array([[1.0]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="658e2764: InternalErr...")
def test_pow_658e2764(check_onnx):
    # finding 658e276431c39def
    # InternalError: Check failed: (IsFloatType(x.ty())) is false: power only applies...
    # fails with: dtype(X) is integer
    node = helper.make_node("Pow", ["X", "Y"], ["out0"])
    entries = [tensor("X", TensorProto.INT64, [])]
    results = [tensor("out0", TensorProto.INT64, [])]
    constants = [numpy_helper.from_array(np.array(1, np.int64), "Y")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 15)], ir_version=10)
    inputs = {"X": np.array(1, np.int64)}
    expected = [np.array(1, np.int64)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="143c493d: InternalErr...")
def test_rmsnormalization_143c493d(check_onnx, data):
    # finding 143c493d62841776
    # InternalError: Check failed: shape.size() == indices.size() (1 vs. 0) : Tensor ...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["X", "scale"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="ce324c84: values: ex...")
def test_spacetodepth_ce324c84(check_onnx, data):
    # finding ce324c84ec6d98a0
    # values: expected False, got True (25% of the elements)
    # fails with: blocksize>1, values of input differ, mode=CRD
    node = helper.make_node(
        "SpaceToDepth", ["input"], ["out0"], blocksize=2, mode="CRD"
    )
    entries = [tensor("input", TensorProto.BOOL, [1, 2, 2, 2])]
    results = [tensor("out0", TensorProto.BOOL, [1, 8, 1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"input": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
