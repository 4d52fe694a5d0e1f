"""keras-openvino/keras: keras.ops.image.perspective_transform: crash when the points have rank 2

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: start_points and end_points have shape (4, 2).
Actual: RuntimeError: Check 'is_axis_valid(axis, r)' failed at src/core/src/validation_util.cpp:336:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
points = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
result = keras.ops.image.perspective_transform(np.array([[[1.0], [2.0]], [[3.0], [4.0]]], np.float32), points, points)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[1.0], [2.0]], [[3.0], [4.0]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
