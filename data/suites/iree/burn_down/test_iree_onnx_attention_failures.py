"""iree/onnx, attention: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="1ce13998: Compile...")
def test_rotaryembedding_1ce13998(check_onnx, data):
    # finding 1ce13998a5ad4729
    # CompilerToolError: Error code: -11
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {
        "input0": np.ones((2, 4, 3, 8), np.float32),
        "input1": np.ones((50, 2), np.float32),
        "input2": np.ones((50, 2), np.float32),
        "input3": np.ones((2, 3), np.int64),
    }
    expected = [data["array1"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="2ec9d316: Compile...")
def test_rotaryembedding_2ec9d316(check_onnx, data):
    # finding 2ec9d31635d611d7
    # CompilerToolError: failed to legalize operation 'torch.onnx.rotary_embedding' t...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {
        name: data[name] for name in ["X", "cos_cache", "sin_cache", "position_ids"]
    }
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)
