"""iree/onnx: Sinh, Cosh: infinity for results that the dtype holds

Seen with onnx 1.23.2, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Written by hand. Fails with: exp of the magnitude of the input overflows in dtype(input), half of it does not: 88.73 to 89.41 (float32), 11.1 to 11.78 (float16) or 709.79 to 710.47 (float64).
Actual: inf: expected 2.2448064e+38, got inf (50% of the elements)
"""

import iree.compiler
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
import iree.runtime
import numpy as np
import onnx
from onnx import helper

node = helper.make_node("Sinh", ["input"], ["out0"])
entries = [helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [2])]
results = [helper.make_tensor_value_info("out0", onnx.TensorProto.FLOAT, [2])]
graph = helper.make_graph([node], "single_operator", entries, results)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
inputs = {"input": np.array([89.0, 1.0], np.float32)}
expected = [np.array([2.2448064e+38, 1.1752012], np.float32)]

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
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
