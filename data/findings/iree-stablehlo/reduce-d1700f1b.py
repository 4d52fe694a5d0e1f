"""iree/stablehlo: stablehlo.reduce: one element added when operand is computed from a constant of equal ones

Seen with jaxlib 0.10.2, stablehlo 1.17.0, iree 3.13.0rc20261016, target llvm-cpu, cpu host, optimization default.
Reduced from test 4a517c495ce2. Fails with: operand is computed element by element from a constant of equal elements, the reduction is add or multiply.
Actual: values: expected 6.0, got 2.0
"""

import iree.compiler
import iree.runtime
import numpy as np

model = """\
module {
  func.func @main() -> tensor<f32> {
    %c = stablehlo.constant dense<2.0> : tensor<3xf32>
    %0 = stablehlo.abs %c : tensor<3xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
"""
inputs = []
expected = [np.array(6.0, np.float32)]

text = model

flags = ["--iree-llvmcpu-target-cpu=host"] + ["--iree-input-demote-f64-to-f32=false"] * ("f64" in text)
binary = iree.compiler.compile_str(text, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=flags)
program = iree.runtime.load_vm_flatbuffer(binary, driver="local-sync")
result = program["main"](*inputs)
actual = [value.to_host() for value in (result if isinstance(result, (tuple, list)) else [result])]

for want, got in zip(expected, actual):
    np.testing.assert_array_equal(got, want)
