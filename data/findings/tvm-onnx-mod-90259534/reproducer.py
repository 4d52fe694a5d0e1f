"""tvm/onnx: inconsistent in Mod

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Expected: the result of the library
Actual:   nan: expected inf, got nan (29% of the elements)
"""

import numpy as np
import onnx
from onnx import helper
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

node = helper.make_node("Mod", ["A", "B"], ["out0"], fmod=0)
graph = helper.make_graph(
    [node], "single_operator", [helper.make_tensor_value_info("A", onnx.TensorProto.FLOAT16, [14]), helper.make_tensor_value_info("B", onnx.TensorProto.FLOAT16, [14])],
    [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT16, [14])], [],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=14)
onnx.checker.check_model(model)
inputs = {
    "A": np.array([0.0, -0.0, 0.0, -0.0, -3.0, 3.0, -1.0, 1.0, np.inf, -np.inf, 1.0, 1.0, np.nan, 1.0], np.float16),
    "B": np.array([-2.0, 2.0, 2.0, -2.0, np.inf, np.inf, -np.inf, -np.inf, 2.0, 2.0, 0.0, -0.0, 2.0, np.nan], np.float16)
}
expected = [
    np.array([-0.0, 0.0, 0.0, -0.0, np.inf, 3.0, -1.0, -np.inf, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan], np.float16)
]

module = from_onnx(model, keep_params_in_input=False)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
feeds = [inputs[entry.name] for entry in model.graph.input]
result = machine["main"](*(tuple(map(tvm.runtime.tensor, v)) if isinstance(v, list) else tvm.runtime.tensor(v) for v in feeds))
actual = [result] if hasattr(result, "numpy") else list(result)
actual = [value.numpy() if hasattr(value, "numpy") else [item.numpy() for item in value] for value in actual]


assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    assert got.dtype == want.dtype, f"expected dtype {want.dtype}, got {got.dtype}"
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
