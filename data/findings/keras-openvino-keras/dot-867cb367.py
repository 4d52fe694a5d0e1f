"""keras-openvino/keras: keras.ops.dot: axes swapped, or crash, when rank(x1)≥2 and rank(x2)≥3

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: rank(x1)≥2, rank(x2)≥3.
Actual: AssertionError: expected shape (2, 3, 1), got (3, 2, 1)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.dot(
    np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([[[1.0], [0.0]], [[0.0], [1.0]], [[1.0], [1.0]]], np.float32)
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[1.0], [2.0], [3.0]], [[3.0], [4.0], [7.0]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
