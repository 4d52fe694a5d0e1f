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


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="3eab267d: ValueError: Resize2D expects the given output image size to be a 2-dim "
    "shape, while the given one has ndim 0",
)
def test_resize_3eab267d(check_onnx):
    # finding 3eab267d50efd2d0
    # ValueError: Resize2D expects the given output image size to be a 2-dim shape, while the given
    # one has ndim 0
    # 2 more calls fail for the same cause: Resize
    node = helper.make_node("Resize", ["X", "", "", "sizes"], ["out0"], axes=[1, 0])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 2, 1])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", 2, 1])]
    constants = [numpy_helper.from_array(np.array([1, 2], np.int64), "sizes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[[2.0], [1.0]]]], np.float32)}
    expected = [np.array([[[[2.0], [1.0]]], [[[2.0], [1.0]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=IndexError,
    reason="90fce2bc: IndexError: index 2 is out of bounds for axis 0 with size 2",
)
def test_resize_90fce2bc(check_onnx):
    # finding 90fce2bccc80e28c
    # IndexError: index 2 is out of bounds for axis 0 with size 2
    node = helper.make_node("Resize", ["X", "", "scales"], ["out0"], axes=[0, 1])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", "unk__2"])]
    constants = [numpy_helper.from_array(np.array([1.0, 2.0], np.float32), "scales")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[1.0, 2.0]]], np.float32)}
    expected = [np.array([[[1.0, 2.0], [1.0, 2.0]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="d1eb3163: values: expected 1.673610806465149, got 1.7734375; fails with: values of X "
    "differ, antialias!=0",
)
def test_resize_d1eb3163(check_onnx):
    # finding d1eb31636fde9a9e
    # values: expected 1.673610806465149, got 1.7734375
    # fails with: values of X differ, antialias!=0
    node = helper.make_node("Resize", ["X", "", "", "sizes"], ["out0"], antialias=1, mode="cubic")
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1, 3])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", "unk__2", "unk__3"])]
    constants = [numpy_helper.from_array(np.array([1, 1, 1, 2], np.int64), "sizes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[[1.0, 1.0, 2.0]]]], np.float32)}
    expected = [np.array([[[[0.93055594, 1.6736108]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="480babb2: TypeError: object of type 'NoneType' has no len(); fails with: any call",
)
def test_upsample_480babb2(check_onnx):
    # finding 480babb2660a302d
    # TypeError: object of type 'NoneType' has no len()
    # fails with: any call
    node = helper.make_node("Upsample", ["X", "scales"], ["out0"])
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1, 2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", "unk__2", "unk__3"])]
    constants = [numpy_helper.from_array(np.array([1.0, 1.0, 1.0, 2.0], np.float32), "scales")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 9)], ir_version=10)
    inputs = {"X": np.array([[[[1.0, 2.0]]]], np.float32)}
    expected = [np.array([[[[1.0, 1.0, 2.0, 2.0]]]], np.float32)]
    check_onnx(model, inputs, expected)
