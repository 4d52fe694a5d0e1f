"""openvino/onnx: Mul: zeros in later batches when a constant scales a ReduceSum of integers of rank 3

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: data has rank 3 and integers, an axis but the first is reduced and the first is not, the result with keepdims=1 has more entries along its first dimension than along its second, what reads the result multiplies by or adds one constant or negates.
Expected: the sums 3 and 12, negated
Actual: values: expected -20, got 0: only the results of the first batch are right
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (int32[2, 3, 1] x) => (int32[2] y) <int64[2] axes = {1, 2}> { s = ReduceSum<keepdims=0>(x, axes) y = Neg(s) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.arange(6, dtype=np.int32).reshape(2, 3, 1)}
expected = np.array([-3, -12], np.int32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled(inputs).values()

np.testing.assert_array_equal(actual, expected, strict=True)
