"""keras-openvino/keras: keras.ops.divide: 2.5 becomes 2 beside a tensor of integers

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: one operand is a tensor of an integer dtype or bool, the other a Python number that this dtype does not hold, and cutting it changes the result.
Actual: AssertionError: expected [0.4 0.8], got [0.5 1. ]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.divide(keras.ops.convert_to_tensor(np.array([1, 2], np.int32)), 2.5)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([0.4, 0.8], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
