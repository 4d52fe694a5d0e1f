"""keras-openvino/keras: keras.ops.top_k: all elements when k=0

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.top_k (finding f5ec136a). Fails with: k=0, the last axis of x is not empty.
Actual: AssertionError: expected shape (0,), got (3,)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.top_k(np.array([1.0, 3.0, 2.0], np.float32), 0)[0]
actual = keras.ops.convert_to_numpy(result)
expected = np.zeros((0,), np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
