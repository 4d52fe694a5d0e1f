"""iree/onnx, reduce: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="a90ab078: Compile...")
def test_reducelogsum_a90ab078(check_onnx, data):
    # finding a90ab078de588c25
    # CompilerToolError: failed to legalize operation 'torch.aten.sum.dim_IntList' th...
    # fails with: input form=runtime
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["input0", "input1"]}
    expected = [np.full((2, 1, 4), -np.inf, np.float32)]
    check_onnx(model, inputs, expected)
