"""keras-openvino/keras: keras.ops.full: dtype of fill_value in place of dtype when fill_value is an array

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.full (finding 3acd44d9). Fails with: fill_value is an array, its dtype is not dtype.
Actual: AssertionError: expected dtype int32, got float32
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.full([2], np.array([1.5, 4.0], np.float32), dtype="int32")
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1, 4], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
