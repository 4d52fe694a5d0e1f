"""keras-openvino/keras: keras.ops.image.scale_and_translate: wrong when scale and translation are integers

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.image.scale_and_translate (finding 73f46968). Fails with: scale and translation both have integer dtypes, scale is not 1.
Actual: AssertionError: expected [0.   0.25 1.   1.25], got [0. 0. 0. 0.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.image.scale_and_translate(
    np.arange(16, dtype=np.float32).reshape(4, 4, 1), (2, 2, 1), np.array([2, 2], np.int32), np.array([0, 0], np.int32), (0, 1), "linear", antialias=False
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[0.0], [0.25]], [[1.0], [1.25]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
