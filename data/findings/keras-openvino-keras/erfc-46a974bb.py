"""keras-openvino/keras: keras.ops.erfc: 0 in place of small numbers when x is large

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(x) is not float16, x is large (some from 3 to 10).
Actual: AssertionError: expected [1.5417e-08 1.5375e-12 4.1370e-37], got [0. 0. 0.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.erfc(np.array([4.0, 5.0, 9.0], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1.541726e-08, 1.53746e-12, 4.137032e-37], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=0), f"expected {expected.ravel()}, got {actual.ravel()}"
