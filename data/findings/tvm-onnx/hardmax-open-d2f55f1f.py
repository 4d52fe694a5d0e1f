"""tvm/onnx: Hardmax: crash when the size of axis is open

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: the size of axis is open.
Expected: [0, 0, 1]
Actual: TypeError: Expected `int` but got `ir.Var`
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[size] x) => (float[size] z) { z = Hardmax<axis=0>(x) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([1, 2, 3], np.float32)}
expected = np.array([0, 0, 1], np.float32)

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
actual = machine["main"](*map(tvm.runtime.tensor, inputs.values())).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
