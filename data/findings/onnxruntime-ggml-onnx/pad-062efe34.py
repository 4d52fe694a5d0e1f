"""onnxruntime-ggml/onnx: Pad: crash or wrong axes padded when axes are not all axes in order

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test dd64692fd7c2. Fails with: axes are not all axes in order.
Actual: InvalidGraph: model: Pad(): shape: Pad rank
"""

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ggml as plugin

model = onnx.parser.parse_model("""
<ir_version: 13, opset_import: ["" : 25]>
single_operator (float16[1,2] data) => (float16[?,?] out0) 
   <int64[2] pads = {0,1}, int64[1] axes = {0}> {
   out0 = Pad (data, pads, "", axes)
}
""")
inputs = {"data": np.array([[1.0, 2.0]], np.float16)}
expected = [np.array([[1.0, 2.0], [0.0, 0.0]], np.float16)]

known = {each.ep_name for each in ort.get_ep_devices()}
ort.register_execution_provider_library("ggml", plugin.library_path())
devices = [each for each in ort.get_ep_devices() if each.ep_name not in known]
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL  # constants would be folded on the CPU
options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
options.add_provider_for_devices(devices[:1], {"device": "cpu", "threads": "1", "weights": "f32"})
session = ort.InferenceSession(model.SerializeToString(), options, enable_fallback=0)
actual = session.run(None, inputs)

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
