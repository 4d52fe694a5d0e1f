"""keras-openvino/keras: keras.ops.round: large integers change

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(x) is an integer dtype, decimals is not negative, float32 does not hold x.
Actual: AssertionError: expected [16777217], got [16777216]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.round(np.array([16777217], np.int32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([16777217], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
