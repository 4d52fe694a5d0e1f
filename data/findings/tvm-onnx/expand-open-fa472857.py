"""tvm/onnx: Expand: crash when a size of input is open and shape is a constant

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: a size of input is open, shape is constant.
Actual: AttributeError: 'Var' object has no attribute 'value'
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 13]>
g (float[size, 1] x) => (float[?, ?] y) <int64[2] shape = {1, 3}> { y = Expand(x, shape) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([[2], [1]], np.float32)}
expected = [np.array([[2, 2, 2], [1, 1, 1]], np.float32)]

module = from_onnx(model, keep_params_in_input=False)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(inputs[entry.name]) for entry in model.graph.input))
actual = [result.numpy()]

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
