"""keras-openvino/keras: keras.ops.nextafter: x1 itself, in place of the next number of float32

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(x1) and dtype(x2) are float32, or both float16; x1 is finite, x2 is not NaN, x1 differs from x2.
Actual: AssertionError: expected [ 1.1921e-07 -5.9605e-08], got [0. 0.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.nextafter(np.array([1.0, 1.0], np.float32), np.array([2.0, 0.0], np.float32)) - 1.0
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1.192093e-07, -5.960464e-08], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=0), f"expected {expected.ravel()}, got {actual.ravel()}"
