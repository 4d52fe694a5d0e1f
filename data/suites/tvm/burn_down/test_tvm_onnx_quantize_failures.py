"""tvm/onnx, quantize: known failures; README.md explains them."""

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
    raises=InternalError,
    reason="21e8bf38: InternalError: Check failed: arr_size == nbytes (1 vs. 2) : "
    "TensorCopyFromBytes: size mismatch; fails with: y_zero_point is given",
)
def test_quantizelinear_21e8bf38(check_onnx):
    # finding 21e8bf3883be37d6
    # InternalError: Check failed: arr_size == nbytes (1 vs. 2) : TensorCopyFromBytes: size mismatch
    # fails with: y_zero_point is given
    # 1 more call fails for the same cause: QuantizeLinear
    node = helper.make_node("QuantizeLinear", ["x", "y_scale", "y_zero_point"], ["out0"], axis=0)
    entries = [tensor("x", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.INT2, [2])]
    constants = [
        numpy_helper.from_array(np.array([2.0, 1.0], np.float32), "y_scale"),
        numpy_helper.from_array(np.array([0.0, 1.0], ml_dtypes.int2), "y_zero_point"),
    ]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 25)], ir_version=13)
    inputs = {"x": np.array([1.0, 2.0], np.float32)}
    expected = [np.array([0.0, 1.0], ml_dtypes.int2)]
    check_onnx(model, inputs, expected)
