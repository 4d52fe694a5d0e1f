"""openvino/onnx, other: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeError,
    reason="002bbd01: RuntimeError: Invalid attribute type UNDEFINED expected: INT, FLOAT; fails with: any call",
)
def test_bernoulli_002bbd01(check_onnx):
    # finding 002bbd0171a3f712
    # RuntimeError: Invalid attribute type UNDEFINED expected: INT, FLOAT
    # fails with: any call
    # 1 more call fails for the same cause: Bernoulli
    node = helper.make_node("Bernoulli", ["input"], ["out0"])
    entries = [tensor("input", TensorProto.FLOAT, [2])]
    results = [tensor("out0", TensorProto.FLOAT, [2])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 22)], ir_version=10)
    inputs = {"input": np.array([0.0, 1.0], np.float32)}
    expected = [np.array([0.0, 1.0], np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=RuntimeError,
    reason="243fb4bc: RuntimeError: 'min_val' and 'max_val' should have the same type as 'out_type' attribute.",
)
def test_bernoulli_243fb4bc(check_onnx):
    # finding 243fb4bc3ca94bc2
    # RuntimeError: 'min_val' and 'max_val' should have the same type as 'out_type' attribute.
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
graph (double[10] input0) => (double[10] output0) {
   value2 = RandomUniformLike <dtype: int = 11, high: float = 1, low: float = 0> (input0)
   value3 = Greater (value2, input0)
   output0 = Cast <to: int = 11> (value3)
}
""")
    inputs = {"input0": np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], np.float64)}
    expected = [np.zeros(10, np.float64)]
    check_onnx(model, inputs, expected)
