"""onnxruntime-ggml/onnx: MatMul: result of float32 precision when dtype is float64

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test ad9f1a1fc496. Fails with: dtype(A)=float64, A has a fraction, B has a fraction.
Actual: values: expected -0.0683962, got -0.0683962
"""

import numpy as np
import onnx
from onnx import helper
import onnxruntime as ort
import onnxruntime_ggml as plugin

node = helper.make_node("MatMul", ["A", "B"], ["out0"])
tensor = helper.make_tensor_value_info
entries = [tensor("A", onnx.TensorProto.DOUBLE, [3]), tensor("B", onnx.TensorProto.DOUBLE, [3])]
results = [tensor("out0", onnx.TensorProto.DOUBLE, [])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.preview", 1)], ir_version=10)
inputs = {
    "A": np.array([0.1421812080768361, 1.0, 1.0], np.float64),
    "B": np.array([-1.0, 0.0588087209344621, 0.014976260219019433], np.float64),
}
expected = [np.array(-0.06839622692335456, np.float64)]

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
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=1e-07, atol=1e-09)
