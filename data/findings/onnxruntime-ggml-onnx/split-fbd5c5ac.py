"""onnxruntime-ggml/onnx: Split, Reshape, Abs: abort (SIGABRT) when a floating-point input is empty

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test d921bd82c63d. Fails with: dtype(input) is floating-point, input is empty.
Actual: the process ended with SIGABRT
"""

import numpy as np
import onnx
from onnx import helper
import onnxruntime as ort
import onnxruntime_ggml as plugin

node = helper.make_node("Split", ["input"], ["out0"])
entries = [helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [0])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT, [0])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=10)
inputs = {"input": np.zeros((0,), np.float32)}
expected = [np.zeros((0,), np.float32)]

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
