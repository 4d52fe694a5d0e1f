"""onnxruntime/onnx, resize: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
onnxruntime_pybind11_state = pytest.importorskip("onnxruntime.capi.onnxruntime_pybind11_state")
Fail = onnxruntime_pybind11_state.Fail


@pytest.mark.xfail(
    strict=True,
    raises=Fail,
    reason="5cc5f6e6: Fail: Node () Op (Range) [ShapeInferenceError] Input to 'Range' op should be scalars (Tensor "
    "with only one element and shape empty); fails with: input form=baked",
)
def test_affinegrid_5cc5f6e6(check_onnx, data):
    # finding 5cc5f6e63b4580f7
    # Fail: Node () Op (Range) [ShapeInferenceError] Input to 'Range' op should be scalars (Tensor with only one element
    # and shape empty)
    # fails with: input form=baked
    # 3 more calls fail for the same cause: AffineGrid
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": data["array0"]}
    expected = [np.zeros((0, 1, 1, 2), np.float32)]
    check_onnx(model, inputs, expected)
