"""keras-openvino/keras: keras.ops.isclose: an infinity is not close to itself, and all else is close to it

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x2 is infinite, x1 is not NaN, x1 equals x2 or rtol is not 0.
Actual: AssertionError: expected [ True False], got [False  True]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.isclose(np.array([np.inf, 5.0], np.float32), np.array([np.inf, np.inf], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([True, False], np.bool_)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
