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
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="2a75d89c: nan: expected nan, got 0.75 (50% of the elements); fails with: "
    "dtype(input)!=dtype(target_type), input has a NaN, dtype(target_type)=float8_e5m2fnuz",
)
def test_castlike_2a75d89c(check_onnx):
    # finding 2a75d89c03e42000
    # nan: expected nan, got 0.75 (50% of the elements)
    # fails with: dtype(input)!=dtype(target_type), input has a NaN,
    # dtype(target_type)=float8_e5m2fnuz
    # 2 more calls fail for the same cause: CastLike
    node = helper.make_node("CastLike", ["input", "target_type"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT8E5M2FNUZ, [2])]
    constants = [
        numpy_helper.from_array(np.array([1.0, 2.0], ml_dtypes.float8_e5m2fnuz), "target_type")
    ]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"input": np.array([1.0, np.nan], np.float32)}
    expected = [np.array([1.0, np.nan], ml_dtypes.float8_e5m2fnuz)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=InternalError,
    reason="8a6c091f: InternalError: Check failed: dtype.bits % 8 == 0 (2 vs. 0) :; fails with: "
    "dtype(target_type)=uint2",
)
def test_castlike_8a6c091f(check_onnx):
    # finding 8a6c091f6ef55ae4
    # InternalError: Check failed: dtype.bits % 8 == 0 (2 vs. 0) :
    # fails with: dtype(target_type)=uint2
    node = helper.make_node("CastLike", ["input", "target_type"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.UINT2, [2])]
    constants = [numpy_helper.from_array(np.array(1.0, ml_dtypes.uint2), "target_type")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"input": np.array([1.0, 2.0], np.float32)}
    expected = [np.array([1.0, 2.0], ml_dtypes.uint2)]
    check_onnx(model, inputs, expected)
