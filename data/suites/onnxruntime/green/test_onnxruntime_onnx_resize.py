"""onnxruntime/onnx, resize: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_resize_4a4d7724(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 19]>
single_operator (float[1,1,4,4] X, float[4] roi, int64[2] sizes) => (float[1,1,3,3] out0) {
   out0 = Resize <axes: ints = [2, 3], coordinate_transformation_mode: string = "tf_crop_and_resize", mode: string =
       "linear"> (X, roi, "", sizes)
}
""")
    inputs = {
        "X": data["array0"],
        "roi": np.array([0.4, 0.6, 0.6, 0.8], np.float32),
        "sizes": np.array([3, 3], np.int64),
    }
    expected = [np.array([[[[7.6000004, 7.9, 8.2], [8.8, 9.1, 9.400001], [10.0, 10.3, 10.6]]]], np.float32)]
    check_onnx(model, inputs, expected)
