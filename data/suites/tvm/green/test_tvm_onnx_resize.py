"""tvm/onnx, resize: tests that pass; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")


def test_resize_661efb4e(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 19]>
single_operator (float[1,1,4,4] X) => (float[1,1,3,3] out0)
   <float[8] roi = {0,0,0.4,0.6,1,1,1.2,1.7}, int64[4] sizes = {1,1,3,3}> {
   out0 = Resize <coordinate_transformation_mode: string = "tf_crop_and_resize",
      extrapolation_value: float = 10, mode:
       string = "linear"> (X, roi, "", sizes)
}
""")
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
