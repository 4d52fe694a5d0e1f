"""tvm/onnx: Expand: crash when shape is a constant with an entry 0

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: shape is a constant with an entry 0.
Actual: ValueError: ONNX Expand: Invalid target dimension 0 at possition 0. Target dimensions must be >= 1.
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 21]>
g (float[1] x) => (float[0] y) <int64[1] s = {0}> { y = Expand(x, s) }
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones(1, np.float32)}
expected = np.zeros(0, np.float32)

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
actual = machine["main"](*map(tvm.runtime.tensor, inputs.values())).numpy()

np.testing.assert_array_equal(actual, expected, strict=True)
