"""iree/onnx: TfIdfVectorizer: zeros when a size of X is open

Seen with onnx 1.23.2, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Fails with: a size of X is open, it is that of the batch or an n-gram of X is in the pool.
Expected: [2, 1]
Actual: values differ: [0]: 0.0 (ACTUAL), 2.0 (DESIRED) [1]: 0.0 (ACTUAL), 1.0 (DESIRED)
"""

import iree.compiler
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context
import iree.runtime
import numpy as np
import onnx

text = """<ir_version: 10, opset_import: ["" : 21]>
g (int64[size] x) => (float[2] z) {
    z = TfIdfVectorizer<mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0,
        ngram_counts=[0], ngram_indexes=[0, 1], pool_int64s=[3, 7]>(x)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"x": np.array([3, 3, 7])}
expected = np.array([2, 1], np.float32)

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
