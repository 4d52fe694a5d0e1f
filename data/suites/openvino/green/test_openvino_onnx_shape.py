"""openvino/onnx, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


def test_slice_217235ca(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data) => (float[20,9,5] out0)
   <int64[1] starts = {1}, int64[1] ends = {1000}, int64[1] axes = {1}, int64[1] steps = {1}> {
   out0 = Slice (data, starts, ends, axes, steps)
}
""")
    inputs = {"data": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


def test_split_8cebe162(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 18]>
single_operator (float[2,8] input) => (float[2,3] out0, float[2,3] out1, float[2,2] out2) {
   out0, out1, out2 = Split <axis: int = 1, num_outputs: int = 3> (input)
}
""")
    inputs = {"input": data["array0"]}
    expected = [
        np.array([[1.0, 2.0, 3.0], [9.0, 10.0, 11.0]], np.float32),
        np.array([[4.0, 5.0, 6.0], [12.0, 13.0, 14.0]], np.float32),
        np.array([[7.0, 8.0], [15.0, 16.0]], np.float32),
    ]
    check_onnx(model, inputs, expected)
