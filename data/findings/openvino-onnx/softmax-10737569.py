"""openvino/onnx: Softmax: wrong result when opset is 11 or 12 and axis is not the last one

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: 11≤opset<13, a softmax along axis alone gives another result.
Actual: values differ: [0, 0, 0]: 0.11920291185379028 (ACTUAL), 0.03205860033631325 (DESIRED) [0, 0, 1]: 0.11920291185379028 (ACTUAL), 0.08714430034160614 (DESIRED)
"""

import numpy as np
import onnx
from onnx import helper
import openvino as ov

node = helper.make_node("Softmax", ["x0"], ["out0"])
inputs = {"x0": np.array([[[0.0, 1.0], [2.0, 3.0]]], np.float32)}
entries = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()]
expected = [np.array([[[0.03205860033631325, 0.08714430034160614], [0.23688280582427979, 0.6439142823219299]]], np.float32)]
results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(node.output, expected)]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=10)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled({port: inputs[port.get_any_name()] for port in compiled.inputs})
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
