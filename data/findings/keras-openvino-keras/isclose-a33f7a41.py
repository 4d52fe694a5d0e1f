"""keras-openvino/keras: keras.ops.isclose: numbers that float32 does not tell apart are close without a tolerance

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x1 and x2 have an integer dtype or float64, they differ, float32 holds them as one number.
Actual: AssertionError: expected [False], got [ True]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.isclose(np.array([16777217], np.int32), np.array([16777216], np.int32), rtol=0.0, atol=0.0)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([False], np.bool_)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
