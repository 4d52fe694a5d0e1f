"""tvm/onnx: MaxUnpool: crash when a size of X is open

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: a size of X is open.
Actual: AttributeError: 'Var' object has no attribute 'value'
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 22]>
g (float[1, size, 1] X, int64[1, size, 1] I) => (float[?, ?, ?] y) { y = MaxUnpool<kernel_shape=[1]>(X, I) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"X": np.array([[[2], [1]]], np.float32), "I": np.array([[[0], [1]]], np.int64)}
expected = [np.array([[[2], [1]]], np.float32)]

module = from_onnx(model, keep_params_in_input=False)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(inputs[entry.name]) for entry in model.graph.input))
actual = [result.numpy()]

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
