"""keras-openvino/keras: keras.ops.cumprod: products are cut to an integer dtype, in place of x

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype is an integer dtype, dtype(x) is a floating-point dtype, the computed products, cut, are not those of the cut elements.
Actual: AssertionError: expected [1 2 4], got [1 3 7]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.cumprod(np.array([1.5, 2.5, 2.0], np.float32), dtype="int32")
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1, 2, 4], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
