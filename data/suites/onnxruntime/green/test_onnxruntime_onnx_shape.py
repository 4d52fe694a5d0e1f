"""onnxruntime/onnx, shape: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def test_slice_0f3a3323(check_onnx, data):
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[20,10,5] data) => (float[20,0,5] out0)
   <int64[1] starts = {1000}, int64[1] ends = {1000}, int64[1] axes = {1}, int64[1] steps = {1}> {
   out0 = Slice (data, starts, ends, axes, steps)
}
""")
    inputs = {"data": data["array0"]}
    expected = [np.zeros((20, 0, 5), np.float32)]
    check_onnx(model, inputs, expected)
