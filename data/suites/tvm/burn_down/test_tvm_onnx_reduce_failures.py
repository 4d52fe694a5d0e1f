"""tvm/onnx, reduce: known failures; README.md explains them."""

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
    strict=False,
    raises=AssertionError,
    reason="76006453: inf: expected -inf, got -102.58578491210938 (75% of the elements)",
)
def test_reducelogsum_76006453(check_onnx):
    # finding 7600645326263308
    # inf: expected -inf, got -102.58578491210938 (75% of the elements)
    # OPERA's tolerance: other elements differ by 1e-05 + 1e-07 of the size, as the project's own
    # tests allow
    node = helper.make_node("ReduceLogSum", ["data", "axes"], ["out0"], keepdims=1)
    entries = [tensor("data", TensorProto.FLOAT, [2, 0, 4])]
    results = [tensor("out0", TensorProto.FLOAT, [2, 1, 4])]
    constants = [numpy_helper.from_array(np.array([1], np.int64), "axes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 18)], ir_version=10)
    inputs = {"data": np.zeros((2, 0, 4), np.float32)}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected, tolerance="opera")


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="406e6614: InternalError: Cannot decide min_value for typeT.bool; fails with: "
    "dtype(data) is bool, rank(data)>=1",
)
def test_reducemax_406e6614(check_onnx):
    # finding 406e6614869d4c11
    # InternalError: Cannot decide min_value for typeT.bool
    # fails with: dtype(data) is bool, rank(data)>=1
    # 1 more call fails for the same cause: ReduceMax
    node = helper.make_node("ReduceMax", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.BOOL, [2])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.array([True, False], np.bool)}
    expected = [np.array([True], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="f18d9ff6: InternalError: Cannot decide max_value for typeT.bool; fails with: "
    "dtype(data) is bool, rank(data)>=1",
)
def test_reducemin_f18d9ff6(check_onnx):
    # finding f18d9ff6ec9f5934
    # InternalError: Cannot decide max_value for typeT.bool
    # fails with: dtype(data) is bool, rank(data)>=1
    node = helper.make_node("ReduceMin", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.BOOL, [2])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.array([False, True], np.bool)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=False,
    raises=AssertionError,
    reason="855ab92b: values: expected 0.0, got 1.2112178275657876e+24 (50% of the elements); "
    "fails with: axes has a value !=0, shape(data)[1]=0",
)
def test_reducesum_855ab92b(check_onnx):
    # finding 855ab92bc69fe5fc
    # values: expected 0.0, got 1.2112178275657876e+24 (50% of the elements)
    # fails with: axes has a value !=0, shape(data)[1]=0
    # OPERA's tolerance: other elements differ by 1e-05 + 1e-07 of the size, as the project's own
    # tests allow
    node = helper.make_node("ReduceSum", ["data", "axes"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [2, 0, 2])]
    results = [tensor("out0", TensorProto.FLOAT, [None, None, None])]
    constants = [numpy_helper.from_array(np.array([1], np.int64), "axes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 13)], ir_version=10)
    inputs = {"data": np.zeros((2, 0, 2), np.float32)}
    expected = [np.zeros((2, 1, 2), np.float32)]
    check_onnx(model, inputs, expected, tolerance="opera")
