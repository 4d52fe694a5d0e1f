"""tvm/onnx, activation: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("tvm")


@pytest.mark.xfail(
    strict=True, raises=ValueError, reason="4d4974c6: ValueError: no value in Constant"
)
def test_celu_4d4974c6(check_onnx):
    # finding 4d4974c66fabf63c
    # ValueError: no value in Constant
    # 11 more calls fail for the same cause: BlackmanWindow, Celu, CenterCropPad, HammingWindow,
    # HannWindow, ...
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
graph (bfloat16[5] input0) => (bfloat16[5] output0) {
   value2 = Constant <value_float: float = 2> ()
   value3 = CastLike (value2, input0)
   value4 = Div (input0, value3)
   value5 = Elu <alpha: float = 1> (value4)
   output0 = Mul (value3, value5)
}
""")
    inputs = {"input0": np.array([1.0, 1.0, 1.0, 1.0, 1.0], ml_dtypes.bfloat16)}
    expected = [np.array([1.0, 1.0, 1.0, 1.0, 1.0], ml_dtypes.bfloat16)]
    check_onnx(model, inputs, expected)
