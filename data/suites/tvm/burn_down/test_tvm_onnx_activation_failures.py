"""tvm/onnx, activation: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("tvm")


@pytest.mark.xfail(strict=True, raises=ValueError, reason="4d4974c6: ValueError: no...")
def test_celu_4d4974c6(check_onnx, data):
    # finding 4d4974c66fabf63c
    # ValueError: no value in Constant
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input0": data["array0"].view(ml_dtypes.bfloat16)}
    expected = [data["array1"].view(ml_dtypes.bfloat16)]
    check_onnx(model, inputs, expected)
