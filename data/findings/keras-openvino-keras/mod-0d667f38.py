"""keras-openvino/keras: keras.KerasTensor.__mod__: `x1 % x2` has the sign of x1

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: `x1 % x2` of tensors, x1 and x2 have different signs, x2 does not divide x1.
Actual: AssertionError: expected [2 1], got [-1  1]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.convert_to_tensor(np.array([-7, 7], np.int32)) % 3
actual = keras.ops.convert_to_numpy(result)
expected = np.array([2, 1], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
