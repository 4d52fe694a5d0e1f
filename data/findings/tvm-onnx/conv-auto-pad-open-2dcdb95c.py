"""tvm/onnx: Conv: crash when auto_pad is SAME_UPPER or SAME_LOWER and an open size has a stride

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: auto_pad is SAME_UPPER or SAME_LOWER, a spatial size of X is open, the stride along it is not 1.
Expected: [[[3, 9, 9]]]
Actual: ValueError: Cannot use and / or / not operator to Expr
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 1, size] x, float[1, 1, 3] w) => (float[1, 1, out] z) { z = Conv<auto_pad="SAME_UPPER", strides=[2]>(x, w) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[1, 2, 3, 4, 5]]], np.float32), "w": np.ones((1, 1, 3), np.float32)}
expected = np.array([[[3, 9, 9]]], np.float32)

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
actual = machine["main"](*map(tvm.runtime.tensor, inputs.values())).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, 1e-4)
