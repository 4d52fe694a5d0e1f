"""tvm/onnx, quantize: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
ml_dtypes = pytest.importorskip("ml_dtypes")
pytest.importorskip("tvm")
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(strict=True, raises=InternalError, reason="21e8bf38: InternalErr...")
def test_quantizelinear_21e8bf38(check_onnx, data):
    # finding 21e8bf3883be37d6
    # InternalError: Check failed: arr_size == nbytes (1 vs. 2) : TensorCopyFromBytes...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"x": data["array3"]}
    expected = [data["array1"].view(ml_dtypes.int2)]
    check_onnx(model, inputs, expected)
