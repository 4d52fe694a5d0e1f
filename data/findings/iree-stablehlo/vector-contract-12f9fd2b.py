"""iree/stablehlo: stablehlo.reduce: crash when a product with a broadcast factor is added up over two axes

Seen with jaxlib 0.10.2, stablehlo 1.17.0, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Fails with: a product is added up over two axes, one factor is broadcast along the first of them.
Actual: CompilerToolError: 'vector.contract' op invalid accumulator/result vector shape
"""

import iree.compiler
import iree.runtime
import numpy as np

model = """
func.func public @main(%a: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<f32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.multiply %a, %0 : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
"""
inputs = [np.array([[1, 2], [3, 4]], np.float32), np.array([1, 10], np.float32)]
expected = np.array(64, np.float32)

flags = ["--iree-llvmcpu-target-cpu=host"]
binary = iree.compiler.compile_str(model, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags)
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
actual = program["main"](*inputs).to_host()

np.testing.assert_allclose(actual, expected)
