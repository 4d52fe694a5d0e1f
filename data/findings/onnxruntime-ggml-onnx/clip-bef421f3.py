"""onnxruntime-ggml/onnx: Clip: min in place of max when min > max

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test 78ba826ec5c2. Fails with: min > max.
Actual: values: expected 1.0, got 2.0
"""

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ggml as plugin

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[2] input) => (float[2] out0) 
   <float min = {2}, float max = {1}> {
   out0 = Clip (input, min, max)
}
""")
inputs = {"input": np.array([2.0, 1.0], np.float32)}
expected = [np.array([1.0, 1.0], np.float32)]

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
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
