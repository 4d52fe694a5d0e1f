"""keras-openvino/keras: keras.ops.arctan2: wrong angle for two infinities or zeros, or x1=-0.0 and x2<0

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x1 and x2 are both infinite, or x1 is a zero and x2 is -0.0, or x1 is -0.0 and x2 is negative.
Actual: AssertionError: expected [ 0.7854 -0.7854  2.3562 -3.1416], got [   nan    nan    nan 3.1416]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.arctan2(np.array([np.inf, -np.inf, np.inf, -0.0], np.float32), np.array([np.inf, np.inf, -np.inf, -1.0], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([0.785398, -0.785398, 2.35619, -3.14159], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
