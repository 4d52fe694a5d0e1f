"""keras-openvino/keras: keras.ops.linspace: the step is cut to a whole number where dtype is an integer dtype

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype is an integer dtype, cutting start, stop and the step changes a sample.
Actual: AssertionError: expected [ 0  3  6 10], got [0 3 6 9]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.linspace(0, 10, num=4, dtype="int32")
actual = keras.ops.convert_to_numpy(result)
expected = np.array([0, 3, 6, 10], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
