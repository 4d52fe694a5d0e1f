"""iree/onnx: LRN: crash when X is empty

Seen with onnx 1.23.2, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Reduced from test fa9c10a034c0 by hand. Fails with: X is empty.
Actual: CompilerToolError: error: 'torch.tensor_static_info_cast' op operand type '!torch.vtensor<[0,3,2,?],f32>' and result type '!torch.vtensor<[0,3,2,2],f32>' are cast incompatible
"""

import iree.compiler
import iree.runtime
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
import numpy as np
import onnx
from onnx import helper

node = helper.make_node("LRN", ["x0"], ["out0"], size=3)
inputs = {"x0": np.zeros((0, 3, 2, 2), np.float32)}
entries = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in inputs.items()]
expected = [np.zeros((0, 3, 2, 2), np.float32)]
results = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for name, value in zip(node.output, expected)]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)

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
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
