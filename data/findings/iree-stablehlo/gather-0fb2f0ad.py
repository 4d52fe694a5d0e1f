"""iree/stablehlo: stablehlo.gather: crash when operand is a slice with a stride above 1

Seen with jaxlib 0.10.2, stablehlo 1.17.0, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Reduced from test 8cf9f7b4f58e. Fails with: operand is a slice with a stride above 1.
Actual: CompilerToolError: LLVM Translation failed for operation: builtin.unrealized_conversion_cast
"""

import iree.compiler
import iree.runtime
import numpy as np

model = """\
module {
  func.func @main(%arg0: tensor<9xi32>, %arg1: tensor<3x1xi64>) -> tensor<3xi32> {
    %0 = stablehlo.slice %arg0 [0:9:3] : (tensor<9xi32>) -> tensor<3xi32>
    %1 = "stablehlo.gather"(%0, %arg1) <{
      dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      indices_are_sorted = false, slice_sizes = array<i64: 1>
    }> : (tensor<3xi32>, tensor<3x1xi64>) -> tensor<3xi32>
    return %1 : tensor<3xi32>
  }
}
"""
inputs = [np.arange(9, dtype=np.int32), np.array([[2], [0], [1]], np.int64)]
expected = [np.array([6, 0, 3], np.int32)]

text = model

flags = ["--iree-llvmcpu-target-cpu=host"] + ["--iree-input-demote-f64-to-f32=false"] * ("f64" in text)
binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags)
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
result = program["main"](*inputs)
actual = [value.to_host() for value in (result if isinstance(result, (tuple, list)) else [result])]

for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
