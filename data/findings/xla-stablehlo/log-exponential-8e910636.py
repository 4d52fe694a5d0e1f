"""xla/stablehlo: stablehlo.log: a finite number in place of infinity when exponential overflows before

Seen with jaxlib 0.10.2, stablehlo 1.17.0, jax 0.10.2, optimization default.
Reduced from a generated program (finding 8e91063640f45e1c). Fails with: the result of exponential goes to log, exponential overflows or is 0.
Actual: inf: expected inf, got 89
"""

import jax
from jaxlib import _jax
import numpy as np

text = """\
module {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.exponential %arg0 : tensor<3xf32>
    %1 = stablehlo.log %0 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
"""
inputs = [np.array([89.0, 1.0, -200.0], np.float32)]
expected = np.array([np.inf, 1.0, -np.inf], np.float32)

device = jax.devices("cpu")[0]
executable = device.client.compile_and_load(text, _jax.DeviceList((device,)), _jax.CompileOptions())
result = executable.execute([jax.device_put(value) for value in inputs])

np.testing.assert_allclose(np.asarray(result[0]), expected, rtol=1e-6)
