"""openvino/onnx: ReduceSum: zeros in later batches when data of rank 3 is dequantised

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 7de2119120704a80). Fails with: data has rank 3, it is quantised as int8 or uint8 and dequantised by a constant
scalar scale, axes is a constant without 0, the result is not quantised, with keepdims=1 it has more batches than channels.
Actual: values: expected 2.0, got 0.0 (50% of the elements)
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[2,2,2] x) => (float[2,1,2] y) <float scale = {0.5}, int8 zero = {0}, int64[1] axes = {1}> {
   q = QuantizeLinear(x, scale, zero)
   data = DequantizeLinear(q, scale, zero)
   y = ReduceSum(data, axes)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((2, 2, 2), np.float32)}
expected = np.full((2, 1, 2), 2, np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
