"""openvino/onnx: Loop: crash when it takes a value of float4e2m1 that is no constant

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced by hand (finding 3cd5f747358fd38e). Fails with: a Loop or Scan takes a value of float4e2m1, the value is not a constant.
Actual: RuntimeError: object is not initialized
"""

import ml_dtypes
import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 13, opset_import: ["" : 23]>
g (float4e2m1[4] x) => (float[1,4] y) <int64 count = {1}, bool go = {1}> {
   y = Loop<body = b (int64 i, bool before) => (bool after, float[4] a) {
      a = Cast<to = 1>(x)
      after = Identity(before)
   }>(count, go)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
codes = np.array([0.0, 1.0, 3.0, 2.0], ml_dtypes.float4_e2m1fn).view(np.uint8)
packed = codes[0::2] | codes[1::2] << 4  # OpenVINO stores two elements in a byte, the first one in the low half
expected = np.array([[0.0, 1.0, 3.0, 2.0]], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
request = compiled.create_infer_request()
request.set_tensor(compiled.inputs[0], ov.Tensor(packed, ov.Shape([4]), compiled.inputs[0].element_type))
request.infer()
actual = np.array(request.get_output_tensor(0).data)

assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
np.testing.assert_array_equal(actual, expected)
