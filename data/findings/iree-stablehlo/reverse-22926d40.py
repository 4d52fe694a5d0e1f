"""iree/stablehlo: stablehlo.reverse: crash when operand is an unsigned integer

Seen with jaxlib 0.10.2, stablehlo 1.17.0, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Reduced from test 1f61974bae6e. Fails with: dtype(operand) is an unsigned integer.
Actual: CompilerToolError: failed to legalize operation 'linalg.generic' that was explicitly marked illegal
"""

import iree.compiler
import iree.runtime
import numpy as np

model = """\
module {
  func.func @main(%arg0: tensor<2xui8>) -> tensor<2xui8> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<2xui8>
    return %0 : tensor<2xui8>
  }
}
"""
inputs = [np.array([1, 2], np.uint8)]
expected = [np.array([2, 1], np.uint8)]

text = model

flags = ["--iree-llvmcpu-target-cpu=host"] + ["--iree-input-demote-f64-to-f32=false"] * ("f64" in text)
binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags)
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
result = program["main"](*inputs)
actual = [value.to_host() for value in (result if isinstance(result, (tuple, list)) else [result])]

for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
