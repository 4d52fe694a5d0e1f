"""xla/stablehlo: stablehlo.log: a number in place of NaN when a power is negative

Seen with jaxlib 0.10.2, stablehlo 1.17.0, jax 0.10.2, optimization default.
Reduced from a generated program (finding 8d14fa67150984f1). Fails with: the result of power goes to log, it is negative or overflows.
Actual: nan: expected nan, got 0
"""

import jax
from jaxlib import _jax
import numpy as np

text = """\
module {
  func.func @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.power %arg0, %arg1 : tensor<3xf32>
    %1 = stablehlo.log %0 : tensor<3xf32>
    return %1 : tensor<3xf32>
  }
}
"""
inputs = [np.array([-1.0, -2.0, 2.0], np.float32), np.array([1.0, 3.0, 3.0], np.float32)]
expected = np.array([np.nan, np.nan, np.log(8)], np.float32)

device = jax.devices("cpu")[0]
executable = device.client.compile_and_load(text, _jax.DeviceList((device,)), _jax.CompileOptions())
result = executable.execute([jax.device_put(value) for value in inputs])

np.testing.assert_allclose(np.asarray(result[0]), expected, rtol=1e-6)
