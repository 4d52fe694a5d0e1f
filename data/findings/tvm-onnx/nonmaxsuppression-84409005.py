"""tvm/onnx: NonMaxSuppression: boxes of score ≤0 missing when score_threshold is not given

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Written by hand. Fails with: score_threshold is not given, a box with a score ≤0 is to be selected.
Actual: expected shape (3, 3), got (2, 3)
"""

import numpy as np
import onnx
from onnx import helper
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

node = helper.make_node("NonMaxSuppression", ["x0", "x1", "x2", "x3"], ["out0"])
inputs = {"x0": np.array([[[0.0, 0.0, 1.0, 1.0], [0.0, 2.0, 1.0, 3.0], [0.0, 4.0, 1.0, 5.0]]], np.float32), "x1": np.array([[[0.9, -0.5, 0.7]]], np.float32)}
constants = {"x2": np.array([3], np.int64), "x3": np.array([0.5], np.float32)}
entries = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()]
expected = [np.array([[0, 0, 0], [0, 0, 2], [0, 0, 1]], np.int64)]
results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(node.output, expected)]
graph = helper.make_graph([node], "single_operator", entries, results, [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
result = machine["main"](*map(tvm.runtime.tensor, inputs.values()))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
