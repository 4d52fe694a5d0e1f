"""openvino/onnx: Slice: wrong shape when starts or ends is beyond int32 at run time

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a test of a campaign by hand. Fails with: starts or ends is given at run time, a value of it is outside of the range of int32, its low 32 bits name another place.
Actual: expected shape (2,), got (1,)
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper
import openvino as ov

node = helper.make_node("Slice", ["data", "starts", "ends", "axes"], ["out0"])
entries = [
    helper.make_tensor_value_info("data", onnx.TensorProto.FLOAT, [3]),
    helper.make_tensor_value_info("ends", onnx.TensorProto.INT64, [1]),
]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT, ["n"])]
constants = [numpy_helper.from_array(np.array([1], np.int64), "starts"), numpy_helper.from_array(np.array([0], np.int64), "axes")]
graph = helper.make_graph([node], "single_operator", entries, results, constants)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)
inputs = {"data": np.array([1.0, 2.0, 3.0], np.float32), "ends": np.array([2**63 - 1], np.int64)}
expected = [np.array([2.0, 3.0], np.float32)]

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled({port: inputs[port.get_any_name()] for port in compiled.inputs})
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
