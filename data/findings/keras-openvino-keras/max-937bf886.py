"""keras-openvino/keras: keras.ops.max: initial is ignored when axis=()

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: axis=(), initial is given, it is larger than an element of x (max), or smaller (min).
Actual: AssertionError: expected [5. 7.], got [1. 7.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.max(np.array([1.0, 7.0], np.float32), axis=(), initial=5.0)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([5.0, 7.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
