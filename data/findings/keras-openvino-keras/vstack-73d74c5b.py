"""keras-openvino/keras: keras.ops.vstack: joined along axis 0 when the arrays have rank 1

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.vstack (finding 73d74c5b). Fails with: an array has a rank below 2.
Actual: AssertionError: expected shape (2, 2), got (4,)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.vstack([np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0], np.float32)])
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
