"""tvm/onnx, sequence: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
helper = onnx.helper
tensor = onnx.helper.make_tensor_value_info
opset = onnx.helper.make_opsetid
TensorProto = onnx.TensorProto


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="2827f372: TypeError: Check failed: (opt_ptr.has_value()) is false: "
    "ErrorContext(fn=main, loc=param[0], param=input, annotation=R.Tensor) expect a Tensor "
    "but get ffi.Array",
)
def test_optionalgetelement_2827f372(check_onnx):
    # finding 2827f3726e9dcf44
    # TypeError: Check failed: (opt_ptr.has_value()) is false: ErrorContext(fn=main, loc=param[0],
    # param=input, annotation=R.Tensor) expect a Tensor but get ffi.Array
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (optional(seq(int32[4])) input) => (seq(int32[4]) out0) {
   out0 = OptionalGetElement (input)
}
""")
    inputs = {"input": [np.array([0, 1], np.int32)]}
    expected = [[np.array([0, 1], np.int32)]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=ValueError,
    reason="91274f02: ValueError: OptionalHasElement expects one input, but got 0; fails with: "
    "input is not given",
)
def test_optionalhaselement_91274f02(check_onnx):
    # finding 91274f026167edef
    # ValueError: OptionalHasElement expects one input, but got 0
    # fails with: input is not given
    node = helper.make_node("OptionalHasElement", [], ["out0"])
    entries = []
    results = [tensor("out0", TensorProto.BOOL, [])]
    graph = helper.make_graph([node], "single_operator", entries, results)
    model = helper.make_model(graph, opset_imports=[opset("", 18)], ir_version=10)
    inputs = {}
    expected = [np.array(False, np.bool)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(
    strict=True,
    raises=TypeError,
    reason="b53c94e7: TypeError: Check failed: (opt_ptr.has_value()) is false: "
    "ErrorContext(fn=main, loc=param[0], param=input, annotation=R.Tensor) expect a Tensor "
    "but get None; fails with: input is not given",
)
def test_optionalhaselement_b53c94e7(check_onnx):
    # finding b53c94e7bd416773
    # TypeError: Check failed: (opt_ptr.has_value()) is false: ErrorContext(fn=main, loc=param[0],
    # param=input, annotation=R.Tensor) expect a Tensor but get None
    # fails with: input is not given
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (optional(int32) input) => (bool out0) {
   out0 = OptionalHasElement (input)
}
""")
    inputs = {"input": None}
    expected = [np.array(False, np.bool)]
    check_onnx(model, inputs, expected)
