"""iree/onnx, reduce: tests that pass; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")


def test_reducelogsum_d87f98c6(check_onnx):
    model = onnx.parser.parse_model("""
<ir_version: 14, opset_import: ["" : 28]>
graph (float[2,0,4] input0) => (float[2,1,4] output0)
   <int64[1] input1 = {1}> {
   value3 = ReduceSum <keepdims: int = 1, noop_with_empty_axes: int = 0> (input0,
      input1)
   output0 = Log (value3)
}
""")
    inputs = {"input0": np.zeros((2, 0, 4), np.float32)}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected)
