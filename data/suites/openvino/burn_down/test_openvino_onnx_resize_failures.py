"""openvino/onnx, resize: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="27af8a0a: RuntimeError...")
def test_affinegrid_27af8a0a(check_onnx, data):
    # finding 27af8a0adabac99a
    # RuntimeError: The split number is invalid
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {"input0": np.ones((2, 2, 3), np.float32)}
    expected = [np.zeros((0, 1, 1, 2), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="c99ee3af: RuntimeError...")
def test_affinegrid_c99ee3af(check_onnx, data):
    # finding c99ee3af937e07c6
    # RuntimeError: Shapes [2,3,4] and [?,2,3] are not consistent, `data` and `indice...
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {"input0": np.ones((2, 3, 4), np.float32)}
    expected = [np.zeros((2, 0, 1, 1, 3), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="21e3e6b3: values: ex...")
def test_resize_21e3e6b3(check_onnx, data):
    # finding 21e3e6b38004d954
    # values: expected 1.3903614282608032, got 1.3148149251937866
    # fails with: values of X differ, antialias?0, scales has a fraction
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array2"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="449d852c: shape: exp...")
def test_resize_449d852c(check_onnx, data):
    # finding 449d852c310b9713
    # shape: expected [1, 1], got [1, 2]
    # fails with: keep_aspect_ratio_policy=not_larger, values of sizes differ
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"X": data["array0"]}
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)
