"""openvino/onnx, sort: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_unique_c0ebfa47(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
single_operator (float[3,3] X) => (float[3,?] out0, int64[?] out1, int64[?] out2,
      int64[?] out3) {
   out0, out1, out2, out3 = Unique <axis: int = -1, sorted: int = 1> (X)
}
""")
    inputs = {"X": data["array0"]}
    expected = [data["array1"], data["array3"], data["array2"], data["array4"]]
    check_onnx(model, inputs, expected)
