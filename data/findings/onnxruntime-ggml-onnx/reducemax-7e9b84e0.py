"""onnxruntime-ggml/onnx: ReduceMax, ReduceMin: wrong result when data is empty and its dtype is int32 or bool

Seen with onnx 1.23.2, onnxruntime_ggml 0.2.0, onnxruntime 1.30.0, provider ggml, device CPU AMD 1022:0000, options device=cpu threads=1 weights=f32.
Reduced from test 54a9528977db. Fails with: dtype(data) is int32, or it is bool and the operator is ReduceMax, a reduced axis has size 0, the result is not empty.
Actual: values: expected -2147483648, got 0
"""

import numpy as np
import onnx
from onnx import helper
import onnxruntime as ort
import onnxruntime_ggml as plugin

node = helper.make_node("ReduceMax", ["data"], ["out0"])
entries = [helper.make_tensor_value_info("data", onnx.TensorProto.INT32, [0])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.INT32, [1])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
inputs = {"data": np.zeros((0,), np.int32)}
expected = [np.array([-2147483648], np.int32)]

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
    np.testing.assert_array_equal(got, want)
