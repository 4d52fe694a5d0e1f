"""keras-openvino/keras: keras.ops.var: the variance of numbers far from 0 is wrong

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: the mean is large beside the standard deviation (some from 1,000 times on).
Actual: AssertionError: expected [0.6667], got [0.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.var(np.array([10000, 10001, 10002], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array(0.666667, np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
