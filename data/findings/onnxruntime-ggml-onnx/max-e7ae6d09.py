"""onnxruntime-ggml/onnx: Max, Min: inputs after the second ignored with three inputs or more

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test 921629c94cce. Fails with: data_0[2] is larger than data_0[0] and data_0[1].
Actual: values: expected 3.0, got 2.0 (50% of the elements)
"""

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ggml as plugin

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 13]>
single_operator (float[2] data_0_0) => (float[2] out0) 
   <float[2] data_0_1 = {1,2}, float[2] data_0_2 = {1,3}> {
   out0 = Max (data_0_0, data_0_1, data_0_2)
}
""")
inputs = {"data_0_0": np.array([2.0, 1.0], np.float32)}
expected = [np.array([2.0, 3.0], np.float32)]

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
