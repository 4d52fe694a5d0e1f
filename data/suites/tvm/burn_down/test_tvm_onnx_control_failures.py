"""tvm/onnx, control: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")


@pytest.mark.xfail(
    strict=True,
    raises=AttributeError,
    reason="d10154b1: AttributeError: '_EmptyOptional' object has no attribute 'ty'",
)
def test_if_d10154b1(check_onnx, data):
    # finding d10154b16b24ad52
    # AttributeError: '_EmptyOptional' object has no attribute 'ty'
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 16]>
single_operator (bool cond) => (optional(seq(float[5])) out0) {
   out0 = If (cond) <else_branch: graph = graph () => (optional(seq(float[5])) output0) {
      value1 = Constant <value: tensor = float[5] {1,2,3,4,5}> ()
      value2 = SequenceConstruct (value1)
      output0 = Optional (value2)
   }, then_branch: graph = graph () => (optional(seq(float[5])) output0) {
      output0 = Optional <type: type_proto = seq(float[5])> ()
   }>
}
""")
    inputs = {"cond": data["array1"]}
    expected = [[[data["array0"]]]]
    check_onnx(model, inputs, expected)
