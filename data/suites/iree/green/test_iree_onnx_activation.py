"""iree/onnx, activation: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_softmax_adf7e0d4(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 7, opset_import: ["" : 13]>
graph (float[3,4,5] input0) => (float[3,4,5] output0) {
   value2 = Constant <value: tensor = int64[1] {-1}> ()
   value3 = ReduceMax <axes: ints = [-1], keepdims: int = 1> (input0)
   value4 = Sub (input0, value3)
   value5 = Exp (value4)
   value6 = ReduceSum <keepdims: int = 1> (value5, value2)
   output0 = Div (value5, value6)
}
""")
    inputs = {"input0": data["array1"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
