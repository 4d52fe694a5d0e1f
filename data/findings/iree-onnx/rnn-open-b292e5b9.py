"""iree/onnx: RNN: crash when the length or the batch is open

Seen with onnx 1.23.2, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Fails with: the length or the batch of X is open.
Actual: error: 'linalg.fill' op unexpected result less than 0 at expression #1 in (d0, d1, d2) -> (d0, d1, d2)
"""

import iree.compiler
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
import iree.runtime
import numpy as np
import onnx

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, batch, 1] x, float[1, 1, 1] w, float[1, 1, 1] r) => (float[1, 1, batch, 1] z) { z = RNN<hidden_size=1>(x, w, r) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.ones((1, 1, 1), np.float32), "w": np.zeros((1, 1, 1), np.float32), "r": np.zeros((1, 1, 1), np.float32)}
expected = np.zeros((1, 1, 1, 1), np.float32)

information = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model, data_prop=True))
with Context() as context:
    module = information.create_module(context=context).operation
    onnx_importer.NodeImporter.define_function(information.main_graph, module).import_all()
    text = module.get_asm()
binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="onnx", extra_args=["--iree-llvmcpu-target-cpu=host"])
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
actual = program[model.graph.name](*inputs.values()).to_host()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, 1e-4)
