"""iree/onnx, sequence: known failures; README.md explains them."""

import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("iree.compiler")
pytest.importorskip("iree.runtime")
binaries = pytest.importorskip("iree.compiler.tools.binaries")
CompilerToolError = binaries.CompilerToolError


@pytest.mark.xfail(strict=True, raises=CompilerToolError, reason="a237d749: Compile...")
def test_sequencemap_a237d749(check_onnx, data):
    # finding a237d74921fd4014
    # CompilerToolError: failed to legalize operation 'torch.prim.Loop' that was expl...
    # fails with: any call
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {"input_sequence": [data["array0"]], "additional_inputs": [data["array1"]]}
    expected = [[data["array2"]]]
    check_onnx(model, inputs, expected)
