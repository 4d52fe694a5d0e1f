"""openvino/onnx: AveragePool: wrong result of fewer than 16 quantised elements on CPUs without AVX-512

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 58f53bd53e469214). Fails with: X is dequantised and Y is quantised by constant scales, both of int8 or both of
uint8, Y has fewer than 16 elements, the two scales or zero points differ.
Actual: values: expected 4, got 8
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (uint8[1,1,2,2] x) => (uint8[1,1,1,1] y) <float scale = {0.5}, float half = {0.25}, uint8 zero = {0}> {
   a = DequantizeLinear(x, scale, zero)
   b = AveragePool<kernel_shape = [2, 2]>(a)
   y = QuantizeLinear(b, half, zero)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.full((1, 1, 2, 2), 2, np.uint8)}
expected = np.array([[[[4]]]], np.uint8)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
