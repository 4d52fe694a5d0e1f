"""openvino/onnx, resize: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
numpy_helper = onnx.numpy_helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="21e3e6b3: values: expected 1.3903614282608032, got 1.3148149251937866; fails with: values of X differ, "
    "antialias!=0, scales has a fraction",
)
def test_resize_21e3e6b3(check_onnx):
    # finding 21e3e6b38004d954
    # values: expected 1.3903614282608032, got 1.3148149251937866
    # fails with: values of X differ, antialias!=0, scales has a fraction
    node = helper.make_node("Resize", ["X", "", "scales"], ["out0"], antialias=1, mode="cubic")
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1, 2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", "unk__2", "unk__3"])]
    constants = [numpy_helper.from_array(np.array([1.0, 1.0, 1.0, 0.6], np.float32), "scales")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[[1.0, 2.0]]]], np.float32)}
    expected = [np.array([[[[1.3903614]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="24eee6ec: values: expected 2.1363637447357178, got 2.10546875; fails with: values of X differ, "
    "exclude_outside!=0, mode=cubic, scales has a value >1",
)
def test_resize_24eee6ec(check_onnx):
    # finding 24eee6ec2ad6487d
    # values: expected 2.1363637447357178, got 2.10546875
    # fails with: values of X differ, exclude_outside!=0, mode=cubic, scales has a value >1
    node = helper.make_node("Resize", ["X", "", "scales"], ["out0"], exclude_outside=1, mode="cubic")
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1, 2])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1", "unk__2", "unk__3"])]
    constants = [numpy_helper.from_array(np.array([1.0, 1.0, 1.0, 2.0], np.float32), "scales")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[[[1.0, 2.0]]]], np.float32)}
    expected = [np.array([[[[0.8636364, 1.229452, 1.770548, 2.1363637]]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=AssertionError,
    reason="449d852c: shape: expected [2, 1], got [0, 1]; fails with: keep_aspect_ratio_policy=not_smaller, sizes has "
    "a value !=0",
)
def test_resize_449d852c(check_onnx):
    # finding 449d852c310b9713
    # shape: expected [2, 1], got [0, 1]
    # fails with: keep_aspect_ratio_policy=not_smaller, sizes has a value !=0
    # 1 more call fails for the same cause: Resize
    node = helper.make_node("Resize", ["X", "", "", "sizes"], ["out0"], keep_aspect_ratio_policy="not_smaller")
    entries = [tensor("X", TensorProto.FLOAT, [2, 1])]
    results = [tensor("out0", TensorProto.FLOAT, ["unk__0", "unk__1"])]
    constants = [numpy_helper.from_array(np.array([0, 1], np.int64), "sizes")]
    graph = helper.make_graph([node], "single_operator", entries, results, constants)
    model = helper.make_model(graph, opset_imports=[opset("", 19)], ir_version=10)
    inputs = {"X": np.array([[2.0], [1.0]], np.float32)}
    expected = [np.array([[2.0], [1.0]], np.float32)]
    check_onnx(model, inputs, expected)
