"""openvino/onnx, attention: known failures; README.md explains them."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("openvino")


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="868f7658: values: ex...")
def test_attention_868f7658(check_onnx, data):
    # finding 868f7658c7fb42a2
    # values: expected 0.7615941762924194, got 1.0
    # fails with: output 3 is wanted, K has a value ?0, Q has a value ?0, softcap>0
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,1,1] Q, float[1,1,1,1] K,
      float[1,1,1,1] V) => (float[1,1,1,1] out0, float[1,1,1,1] out3) {
   out0, "", "", out3 = Attention <softcap: float = 1> (Q, K, V)
}
""")
    inputs = {"Q": data["array1"], "K": data["array2"], "V": data["array3"]}
    expected = [np.array([[[[1.0]]]], np.float32), data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="b5906610: values: ex...")
def test_attention_b5906610(check_onnx, data):
    # finding b5906610e8a53b01
    # values: expected 0.5, got 0.6666666865348816 (33% of the elements)
    # fails with: values of V differ, right_window_size?-1
    model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float[1,1,3,1] Q, float[1,1,3,1] K,
      float[1,1,3,1] V) => (float[1,1,3,1] out0) {
   out0 = Attention <right_window_size: int = 1> (Q, K, V)
}
""")
    inputs = {name: data[name] for name in ["Q", "K", "V"]}
    expected = [data["array0"]]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="e5a648f3: nan: expec...")
def test_attention_e5a648f3(check_onnx, data):
    # finding e5a648f3532ead62
    # nan: expected 0.0, got nan
    # fails with: input3 has a value =0
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {
        "input0": np.ones((1, 2, 2, 8), np.float16),
        "input1": np.ones((1, 2, 2, 8), np.float16),
        "input2": np.ones((1, 2, 2, 8), np.float16),
        "input3": np.zeros((2, 2), np.bool),
    }
    expected = [np.zeros((1, 2, 2, 8), np.float16), np.zeros((1, 2, 2, 2), np.float16)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="31914d10: RuntimeError...")
def test_linearattention_31914d10(check_onnx, data):
    # finding 31914d10c6ba3c9d
    # RuntimeError: value41, value42 num_scan_outputs can't be negative: body outputs...
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {
        "input0": np.ones((2, 4, 64), np.float16),
        "input1": np.ones((2, 4, 32), np.float16),
        "input2": np.ones((2, 4, 32), np.float16),
        "input3": np.ones((2, 4, 32), np.float16),
        "input4": np.ones((2, 4, 4), np.float16),
    }
    expected = [data["array1"], np.full((2, 4, 8, 8), -6544.0, np.float16)]
    check_onnx(model, inputs, expected)


@pytest.mark.xfail(strict=True, raises=RuntimeError, reason="723b3423: RuntimeError...")
def test_linearattention_723b3423(check_onnx, data):
    # finding 723b34231e0022ae
    # RuntimeError: value37, value38 Number of Scan node inputs (6) is less than requ...
    # fails with: any call
    model = onnx.load_model_from_string(data["array0"].tobytes())
    inputs = {
        name: data[name]
        for name in ["input0", "input1", "input2", "input3", "input4", "input5"]
    }
    expected = [data[f"expected_{place}"] for place in range(2)]
    check_onnx(model, inputs, expected)
