"""keras-openvino/keras: keras.ops.all: x as it is, in place of truth values, when axis=()

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: axis=(), dtype(x) is not bool.
Actual: AssertionError: expected dtype bool, got float32
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.all(np.array([0.0, 1.0, 2.0], np.float32), axis=())
actual = keras.ops.convert_to_numpy(result)
expected = np.array([False, True, True], np.bool_)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
