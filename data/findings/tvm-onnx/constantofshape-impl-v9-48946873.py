"""tvm/onnx: ConstantOfShape: crash when input is given at run time

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from test 76261c01defa. Fails with: input is given at run time or made of Size or of Shape by Gather with a list of places or by Cast of a size that is not fixed.
Actual: InternalError: CodeGenVM cannot emit this Relax operator directly. Run the appropriate lowering pass, or route the operator to an external codegen before VM codegen.
"""

import numpy as np
import onnx
from onnx import helper
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

node = helper.make_node("ConstantOfShape", ["input"], ["out0"])
entries = [helper.make_tensor_value_info("input", onnx.TensorProto.INT64, [1])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT, ["n"])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)], ir_version=10)
inputs = {"input": np.array([2], np.int64)}
expected = [np.array([0.0, 0.0], np.float32)]

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
result = machine["main"](*map(tvm.runtime.tensor, inputs.values()))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
