"""keras-openvino/keras: keras.ops.linspace: shape (0,) when num=0 and start is no scalar

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.logspace (finding bc147387). Fails with: num=0, rank(start)≥1.
Actual: AssertionError: expected shape (0, 2), got (0,)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.linspace(np.array([0.0, 1.0], np.float32), np.array([2.0, 3.0], np.float32), num=0)
actual = keras.ops.convert_to_numpy(result)
expected = np.zeros((0, 2), np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
