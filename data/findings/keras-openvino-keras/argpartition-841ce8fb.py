"""keras-openvino/keras: keras.ops.argpartition: crash when x is unsigned

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.argpartition (finding 841ce8fb). Fails with: dtype(x) is an unsigned integer dtype.
Actual: RuntimeError: `convert_to_numpy` failed to convert the tensor.
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.argpartition(np.array([3, 1, 2], np.uint8), 1)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1, 2, 0], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
