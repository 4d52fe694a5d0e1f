"""xla/stablehlo: stablehlo.log: infinity in place of NaN after rsqrt of -0.0

Seen with jaxlib 0.10.2, stablehlo 1.17.0, jax 0.10.2, optimization default.
Reduced from a generated program (finding dc0451414cb4da3d). Fails with: the result of rsqrt goes to log, the argument is -0.0.
Actual: nan: expected nan, got inf
"""

import jax
from jaxlib import _jax
import numpy as np

text = """\
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.rsqrt %arg0 : tensor<3xf32>
    %1 = stablehlo.log %0 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
"""
inputs = [np.array([-0.0, 0.0, 4.0], np.float32)]
expected = np.array([np.nan, np.inf, -np.log(2)], np.float32)

device = jax.devices("cpu")[0]
executable = device.client.compile_and_load(text, _jax.DeviceList((device,)), _jax.CompileOptions())
result = executable.execute([jax.device_put(value) for value in inputs])

np.testing.assert_allclose(np.asarray(result[0]), expected, rtol=1e-6)
