"""iree/onnx, pool: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="ab4cf980: Compile...")
def test_averagepool_ab4cf980(check_onnx):
    # finding ab4cf980f16da45a
    # CompilerToolError: 'linalg.generic' op inferred input/output operand #1 has sha...
    # fails with: kernel_shape has an entry >1, pads[0]=1, pads[1]=1, strides has an ...
    node = helper.make_node(
        "AveragePool", ["X"], ["out0"], kernel_shape=[2], pads=[1, 1], strides=[2]
    )
    entries = [tensor("X", TensorProto.FLOAT, [1, 1, 1])]
    results = [tensor("out0", TensorProto.FLOAT, [1, 1, 1])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"X": np.array([[[1.0]]], np.float32)}
    expected = [np.array([[[1.0]]], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="f5f6089a: values: ex...")
def test_averagepool_f5f6089a(check_onnx, data):
    # finding f5f6089a8d869ba8
    # values: expected -1.2223923206329346, got -0.6111961603164673
    # fails with: count_include_pad?0, dilations[0]=2, kernel_shape has an entry >1, ...
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
