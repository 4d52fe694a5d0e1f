"""keras-openvino/keras: keras.ops.binary_crossentropy: output is cut to whole numbers if target has integers

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(target) is an integer dtype.
Actual: AssertionError: expected dtype float32, got int32
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.binary_crossentropy(np.array([0, 1, 1, 0], np.int32), np.array([0.1, 0.9, 0.8, 0.2], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([0.105361, 0.105361, 0.223144, 0.223144], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
