"""keras-openvino/keras: keras.layers.UpSampling1D: abort (SIGSEGV) when the repeated axis is empty

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.layers.UpSampling1D (finding 7070b3fb). Fails with: an array without elements is tiled, a repeat is more than 1, an axis of size 0 is followed by an axis that is not empty.
Actual: signal 11:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.tile(np.zeros((0, 3), np.float32), (1, 2))
actual = keras.ops.convert_to_numpy(result)
expected = np.zeros((0, 6), np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
