"""onnxruntime/onnx, reduce: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto
onnxruntime_pybind11_state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
RuntimeException = onnxruntime_pybind11_state.RuntimeException


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeException,
    reason="15e7114c: RuntimeException: ReduceMax is not defined for empty set with bool type; fails with: "
    "dtype(data) is bool, data is empty",
)
def test_reducemax_15e7114c(check_onnx):
    # finding 15e7114c30ff2a44
    # RuntimeException: ReduceMax is not defined for empty set with bool type
    # fails with: dtype(data) is bool, data is empty
    node = helper.make_node("ReduceMax", ["data"], ["out0"])
    entries = [tensor("data", TensorProto.BOOL, [0])]
    results = [tensor("out0", TensorProto.BOOL, [1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 20)], ir_version=10)
    inputs = {"data": np.zeros((0,), np.bool)}
    expected = [np.array([False], np.bool)]
    check_onnx(model, inputs, expected)
