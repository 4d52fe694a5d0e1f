"""openvino/onnx: Gelu: infinity or NaN for x from 2**127 on, given at run time

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: approximate=none or not given, x has a value of 2**127 or more or +infinity, x is given at run time.
Actual: inf: expected 3e+38, got inf (50% of the elements)
"""

import numpy as np
import onnx
from onnx import helper
import openvino as ov

node = helper.make_node("Gelu", ["x0"], ["out0"])
inputs = {"x0": np.array([3e38, 1], np.float32)}
entries = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()]
expected = [np.array([3e38, 0.8413447], np.float32)]
results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(node.output, expected)]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled({port: inputs[port.get_any_name()] for port in compiled.inputs})
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
