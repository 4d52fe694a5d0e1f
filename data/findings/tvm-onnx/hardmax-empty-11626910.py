"""tvm/onnx: Hardmax: crash when the declared size of axis is 0

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: the size of axis is 0, the input is given at run time.
Actual: TypeError: Expected `int` but got `ir.Var`
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[0] x) => (float[0] y) { y = Hardmax<axis=0>(x) }
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.zeros(0, np.float32)}
expected = np.zeros(0, np.float32)

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
actual = machine["main"](*map(tvm.runtime.tensor, inputs.values())).numpy()

np.testing.assert_array_equal(actual, expected, strict=True)
