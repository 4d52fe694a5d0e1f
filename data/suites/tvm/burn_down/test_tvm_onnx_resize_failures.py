"""tvm/onnx, resize: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(strict=True, raises=ValueError, reason="3eab267d: ValueError: Re...")
def test_resize_3eab267d(check_onnx):
    # finding 3eab267d50efd2d0
    # ValueError: Resize2D expects the given output image size to be a 2-dim shape, w...
    # fails with: any call
    node = helper.make_node("Resize", ["X", "", "", "sizes"], ["out0"], axes=[1, 0])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1, 1])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", 1, 1])]
    constants = [numpy_helper.from_array(np.array([1, 1], np.int64), "sizes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[[1.0]]]], np.float32)}
    expected = [np.array([[[[1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="d1eb3163: values: ex...")
def test_resize_d1eb3163(check_onnx, data):
    # finding d1eb31636fde9a9e
    # values: expected 1.3148157596588135, got 1.5
    # fails with: values of X differ, mode=cubic, scales has a fraction
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array2"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="480babb2: TypeError: obje...")
def test_upsample_480babb2(check_onnx, data):
    # finding 480babb2660a302d
    # TypeError: object of type 'NoneType' has no len()
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
