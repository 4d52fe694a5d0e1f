"""tvm/onnx, control: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")


@pytest.mark.xfail(strict=True, raises=AttributeError, reason="d10154b1: AttributeE...")
def test_if_d10154b1(check_onnx, data):
    # finding d10154b16b24ad52
    # AttributeError: '_EmptyOptional' object has no attribute 'ty'
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"cond": data["array1"]}
    expected = [[[data["array0"]]]]
    check_onnx(model, inputs, expected)
