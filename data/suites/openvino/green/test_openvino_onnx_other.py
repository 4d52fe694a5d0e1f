"""openvino/onnx, other: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_clip_dc7fe280(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 7, opset_import: ["" : 13]>
graph (int8[3,4,5] input0) => (int8[3,4,5] output0)
   <int8 input1 = {0}> {
   value3 = Less (input0, input1)
   output0 = Where (value3, input1, input0)
}
""")
    inputs = {"input0": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
