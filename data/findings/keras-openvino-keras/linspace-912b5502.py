"""keras-openvino/keras: keras.ops.linspace: the samples lie along the last axis for an axis in the middle

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: axis is not 0, it is not the last axis of the result, num is not 1.
Actual: AssertionError: expected shape (2, 3, 2), got (2, 2, 3)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.linspace(np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32), num=3, axis=1)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[0, 0], [0.5, 0.5], [1, 1]]] * 2, np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
