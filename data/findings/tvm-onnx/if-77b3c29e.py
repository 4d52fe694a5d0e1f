"""tvm/onnx: If: too many outputs when BatchNormalization, LayerNormalization or Dropout is in a branch

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from the test of a graph by hand (finding 77b3c29e69f80658). Fails with: BatchNormalization or LayerNormalization or Dropout stands in a branch of If, it names one output, the branch reads this output or gives it and is taken.
Actual: expected 1 outputs, got 3
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
single_operator (bool cond, float[1, 2] x) => (float[1, 2] out0) <float[2] one = {1, 1}, float[2] zero = {0, 0}> {
   out0 = If (cond) <then_branch: graph = graph () => (float[1, 2] normalized) {
      normalized = BatchNormalization (x, one, one, zero, one)
   }, else_branch: graph = graph () => (float[1, 2] same) {
      same = Identity (x)
   }>
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"cond": np.array(True), "x": np.array([[1, 3]], np.float32)}
expected = [np.array([[1.999995, 3.999985]], np.float32)]

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
result = machine["main"](*map(tvm.runtime.tensor, inputs.values()))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
