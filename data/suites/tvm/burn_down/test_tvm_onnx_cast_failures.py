"""tvm/onnx, cast: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="8e55a019: nan: expected nan, got 1.5; fails with: input has a NaN, to=float8_e4m3fn",
)
def test_cast_8e55a019(check_onnx):
    # finding 8e55a0197c3d9ff8
    # nan: expected nan, got 1.5
    # fails with: input has a NaN, to=float8_e4m3fn
    # 2 more calls fail for the same cause: Cast
    node = helper.make_node("Cast", ["input"], ["out0"], to=17)
    entries = [tensor("input", TensorProto.FLOAT, [1])]
    results = [tensor("out0", TensorProto.FLOAT8E4M3FN, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"input": np.array([np.nan], np.float32)}
    expected = [np.array([np.nan], ml_dtypes.float8_e4m3fn)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="2a75d89c: nan: expected nan, got -0.0078125 (50% of the elements); fails with: "
    "dtype(input)=float8_e4m3fnuz, dtype(input)!=dtype(target_type), dtype(target_type) is "
    "floating-point",
)
def test_castlike_2a75d89c(check_onnx):
    # finding 2a75d89c03e42000
    # nan: expected nan, got -0.0078125 (50% of the elements)
    # fails with: dtype(input)=float8_e4m3fnuz, dtype(input)!=dtype(target_type), dtype(target_type)
    # is floating-point
    # 1 more call fails for the same cause: CastLike
    node = helper.make_node("CastLike", ["input", "target_type"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT8E4M3FNUZ, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2])]
    constants = [numpy_helper.from_array(np.array([1.0, 2.0], np.float32), "target_type")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"input": np.array([np.nan, 1.0], ml_dtypes.float8_e4m3fnuz)}
    expected = [np.array([np.nan, 1.0], np.float32)]
    check_onnx(model, inputs, expected)
