"""keras-openvino/keras: keras.ops.floor_divide: one too much where the quotient is rounded up to a whole number

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x1 / x2 lies just below a whole number, and is rounded up to it.
Actual: AssertionError: expected [ 9. 59.], got [10. 60.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.floor_divide(np.array([1.0, 6.0], np.float32), np.array([0.1, 0.1], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([9.0, 59.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
