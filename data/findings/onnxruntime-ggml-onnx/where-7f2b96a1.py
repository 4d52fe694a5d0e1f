"""onnxruntime-ggml/onnx: Where: NaN when the branch that is not chosen has a NaN or infinity

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test f353897779d4. Fails with: Y has a NaN, condition has a value ≠0.
Actual: nan: expected 2.0, got nan (50% of the elements)
"""

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ggml as plugin

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 16]>
single_operator (bool[2] condition) => (float[2] out0) 
   <float[2] X = {2,1}, float[1] Y = {nan}> {
   out0 = Where (condition, X, Y)
}
""")
inputs = {"condition": np.array([True, False], np.bool)}
expected = [np.array([2.0, np.nan], np.float32)]

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
