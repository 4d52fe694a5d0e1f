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


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="851be476: nan: expec...")
def test_reducel2_851be476(check_onnx, data):
    # finding 851be476a7a22604
    # nan: expected 0.0, got nan (25% of the elements)
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": np.zeros((2, 0, 4), np.float32)}
    expected = [np.zeros((2, 1, 4), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="18f50dfe: nan: expec...")
def test_reducelogsum_18f50dfe(check_onnx, data):
    # finding 18f50dfe32c0b29f
    # nan: expected -inf, got nan (25% of the elements)
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": np.zeros((2, 0, 4), np.float32)}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="76006453: inf: expec...")
def test_reducelogsum_76006453(check_onnx):
    # finding 7600645326263308
    # inf: expected -inf, got 64.68675994873047
    node = helper.make_node("ReduceLogSum", ["data", "axes"], ["out0"], keepdims=1)
    entries = [tensor("data", TensorProto.FLOAT, [2, 0, 4])]
    results = [tensor("out0", TensorProto.FLOAT, [2, 1, 4])]
    constants = [numpy_helper.from_array(np.array([1], np.int64), "axes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 28)], ir_version=14)
    inputs = {"data": np.zeros((2, 0, 4), np.float32)}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="3f44310e: inf: expec...")
def test_reducelogsumexp_3f44310e(check_onnx, data):
    # finding 3f44310e2213e3a4
    # inf: expected -inf, got -712.2667236328125
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": np.zeros((2, 0, 4), np.float32)}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="406e6614: InternalErr...")
def test_reducemax_406e6614(check_onnx):
    # finding 406e6614869d4c11
    # InternalError: Cannot decide min_value for typeT.bool
    # fails with: dtype(data) is bool, rank(data)?1
    node = helper.make_node("ReduceMax", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.BOOL, [1])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.array([False], np.bool)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="a8debb0b: inf: expec...")
def test_reducemin_a8debb0b(check_onnx):
    # finding a8debb0b024e0c22
    # inf: expected inf, got -3.861615141521383e-21
    # fails with: data is empty
    node = helper.make_node("ReduceMin", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.FLOAT, [0])]
    results = [tensor("out0", TensorProto.FLOAT, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.zeros((0,), np.float32)}
    expected = [np.array([np.inf], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="f18d9ff6: InternalErr...")
def test_reducemin_f18d9ff6(check_onnx):
    # finding f18d9ff6ec9f5934
    # InternalError: Cannot decide max_value for typeT.bool
    # fails with: dtype(data) is bool, rank(data)?1
    node = helper.make_node("ReduceMin", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.BOOL, [1])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.array([False], np.bool)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)
