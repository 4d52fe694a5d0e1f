"""tvm/onnx, shape: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("tvm")
error = pytest.importorskip("tvm.error")
InternalError = error.InternalError


@pytest.mark.xfail(strict=True, raises=AttributeError, reason="0a91fc6b: AttributeE...")
def test_pad_0a91fc6b(check_onnx, data):
    # finding 0a91fc6b0852de10
    # AttributeError: 'Var' object has no attribute 'value'
    # fails with: input form=runtime
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,1] data, int64[4] pads, float constant_value,
      int64[2] axes) => (float[?,?,?,?] out0) {
   out0 = Pad (data, pads, constant_value, axes)
}
""")
    inputs = {name: data[name] for name in ["data", "pads", "constant_value", "axes"]}
    expected = [np.ones((3, 3, 1, 1), np.float32)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="c3430f09: TypeError: Resh...")
def test_reshape_c3430f09(check_onnx, data):
    # finding c3430f0962f952fa
    # TypeError: Reshape requires the input new shape to be Shape. However, the given...
    # fails with: input form=runtime
    model = onnx.load_model_from_string(data["model"].tobytes())
    inputs = {name: data[name] for name in ["data", "shape"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=InternalError, reason="634071c0: InternalErr...")
def test_split_634071c0(check_onnx, data):
    # finding 634071c08954d10b
    # InternalError: Check failed: idx_node->value > back_node->value (0 vs. 0) : spl...
    # fails with: split is given
    model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[0] input) => (float[?] out0, float[?] out1, float[?] out2)
   <int64[3] split = {0,0,0}> {
   out0, out1, out2 = Split (input, split)
}
""")
    inputs = {"input": np.zeros((0,), np.float32)}
    expected = [data[f"expected_{place}"] for place in range(3)]
    check_onnx(model, inputs, expected)
