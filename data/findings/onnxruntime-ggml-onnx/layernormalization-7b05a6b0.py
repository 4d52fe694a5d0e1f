"""onnxruntime-ggml/onnx: LayerNormalization: crash when Mean or InvStdDev is an output

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test 5c0d6260240f. Fails with: Mean or InvStdDev is wanted.
Actual: InvalidGraph: model: output 'out1' was never produced
"""

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ggml as plugin

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 17]>
single_operator (float[2] X, float[2] Scale, float[2] B) => (float[2] out0, float[1] out1, float[1] out2) {
   out0, out1, out2 = LayerNormalization (X, Scale, B)
}
""")
inputs = {
    "X": np.array([1.0, 2.0], np.float32), "Scale": np.array([2.0, 1.0], np.float32),
    "B": np.array([0.0, 1.0], np.float32),
}
expected = [np.array([-1.99996, 1.99998], np.float32), np.array([1.5], np.float32), np.array([1.99996], np.float32)]

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
