"""openvino/onnx: RandomNormal: numbers that are not normal when seed is not given or 0

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand (finding 5a373b6dfa4b2563). Fails with: seed is not given or 0.
Actual: values: expected 6.7% of the numbers below -1.5, got 0 of 1000
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g () => (float[1000] y) { y = RandomNormal<shape = [1000]>() }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {}

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == np.float32 and actual.shape == (1000,), f"expected float32 of shape (1000,), got {actual.dtype} of {actual.shape}"
below = (actual < -1.5).sum()
np.testing.assert_allclose(below, 66.8, atol=50, err_msg="numbers below -1.5 of 1000 that are to be normal")
