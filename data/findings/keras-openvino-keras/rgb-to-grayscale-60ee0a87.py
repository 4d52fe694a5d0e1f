"""keras-openvino/keras: keras.ops.image.rgb_to_grayscale: 0 everywhere when dtype is an integer dtype

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(images) is an integer dtype, images has 3 channels.
Actual: AssertionError: expected [82 18], got [0 0]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

result = keras.ops.image.rgb_to_grayscale(np.array([[[100, 50, 200], [10, 20, 30]]], np.uint8))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[82], [18]]], np.uint8)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
