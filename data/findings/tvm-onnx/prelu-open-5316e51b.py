"""tvm/onnx: PRelu: crash when the size of X is open along the last axis or that of slope

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: the size of X is open along the axis that the importer takes for the channels: the last one, or the one along which slope has several elements.
Actual: ValueError: Expect value to be constant int
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 16]>
g (float[size] x) => (float[?] y) <float[1] slope = {0.5}> { y = PRelu(x, slope) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([2, -1], np.float32)}
expected = [np.array([2, -0.5], np.float32)]

module = from_onnx(model, keep_params_in_input=False)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(inputs[entry.name]) for entry in model.graph.input))
actual = [result.numpy()]

assert len(actual) == len(expected)
for got, want in zip(actual, expected):
    np.testing.assert_array_equal(got, want, strict=True)
