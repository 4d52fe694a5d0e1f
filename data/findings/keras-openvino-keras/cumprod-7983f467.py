"""keras-openvino/keras: keras.ops.cumprod: products of integers are not exact

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(x) is an integer dtype, a product is large (some from 500,000 on).
Actual: AssertionError: expected [      100     10000   1000000 100000000 300000000], got [      100     10000   1000000 100000024 299999936]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.cumprod(np.array([100, 100, 100, 100, 3], np.int32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([100, 10000, 1000000, 100000000, 300000000], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.array_equal(actual, expected), f"expected {expected.ravel()}, got {actual.ravel()}"
