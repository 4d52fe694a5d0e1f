"""tvm/onnx: AveragePool, LpPool: crash when auto_pad is SAME_* and a size is 0 or open

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: a spatial size of X is 0 or open, auto_pad is SAME_UPPER or SAME_LOWER.
Actual: TypeError: int() argument must be a string, a bytes-like object or a real number, not 'Var'
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 22]>
g (float[1, 1, size] x) => (float[?, ?, ?] y) { y = AveragePool<auto_pad="SAME_UPPER", kernel_shape=[1]>(x) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[[2, 1]]], np.float32)}
expected = [np.array([[[2, 1]]], np.float32)]

module = from_onnx(model, keep_params_in_input=False)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(inputs[entry.name]) for entry in model.graph.input))
actual = [result.numpy()]

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
