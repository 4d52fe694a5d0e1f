"""iree/onnx: LSTM: wrong result when P (peepholes) is given

Seen with onnx 1.23.2, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Reduced from test 45f7308d2cd9. Fails with: P changes the result.
Actual: values: expected 0.417551, got 0.369606
"""

import iree.compiler
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
import iree.runtime
import numpy as np
import onnx

model = onnx.parser.parse_model("""
<ir_version: 10, opset_import: ["" : 22]>
single_operator (float[1,1,1] X, float[1,12,1] W, float[1,12,3] R, float[1,9] P) => (float[1,1,3] out1) {
   "", out1 = LSTM <hidden_size: int = 3> (X, W, R, "", "", "", "", P)
}
""")
inputs = {
    "X": np.array([[[1.0]]], np.float32), "W": np.ones((1, 12, 1), np.float32), "R": np.ones((1, 12, 3), np.float32),
    "P": np.ones((1, 9), np.float32),
}
expected = [np.full((1, 1, 3), 0.417551, np.float32)]

information = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
with Context() as context:
    module = information.create_module(context=context).operation
    onnx_importer.NodeImporter.define_function(information.main_graph, module).import_all()
    text = module.get_asm()
flags = ["--iree-llvmcpu-target-cpu=host"]
if "f64" in text:
    flags.append("--iree-input-demote-f64-to-f32=false")
binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="onnx", extra_args=flags)
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
result = program[model.graph.name](*inputs.values())
actual = [value.to_host() for value in (result if isinstance(result, (tuple, list)) else [result])]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
