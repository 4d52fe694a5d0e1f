"""keras-openvino/keras: keras.ops.hypot: NaN when x1 and x2 are infinite

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x1 and x2 are both infinite.
Actual: AssertionError: expected [inf inf], got [nan nan]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.hypot(np.array([np.inf, np.inf], np.float32), np.array([np.inf, -np.inf], np.float32))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([np.inf, np.inf], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
