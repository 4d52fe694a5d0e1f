"""openvino/onnx: Pad: wrong padding when constant_value is an integer that float32 does not hold

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: mode=constant, pads has an entry >0, an input is given at run time, constant_value is an integer that a conversion to float32 and then int32 changes.
Actual: values differ: [0]: 16777216 (ACTUAL), 16777217 (DESIRED) [3]: 16777216 (ACTUAL), 16777217 (DESIRED)
"""

import numpy as np
import onnx
from onnx import helper
import openvino as ov

node = helper.make_node("Pad", ["x0", "x1", "x2"], ["out0"])
inputs = {"x0": np.array([1, 2], np.int32)}
constants = {"x1": np.array([1, 1], np.int64), "x2": np.array(16777217, np.int32)}
entries = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()]
expected = [np.array([16777217, 1, 2, 16777217], np.int32)]
results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(node.output, expected)]
graph = helper.make_graph([node], "single_operator", entries, results, [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled({port: inputs[port.get_any_name()] for port in compiled.inputs})
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_array_equal(got, want)
