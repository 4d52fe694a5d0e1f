"""keras-openvino/keras: keras.ops.expm1: exp(x) - 1 loses the digits of a small x

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x is small beside 1 (some up to 0.0001).
Actual: AssertionError: expected [1.e-08 1.e-05], got [0.0000e+00 1.0014e-05]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.expm1(np.array([1e-08, 1e-05], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1e-08, 1.000005e-05], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=0), f"expected {expected.ravel()}, got {actual.ravel()}"
