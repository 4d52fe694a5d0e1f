"""keras-openvino/keras: keras.ops.segment_max: -3.4e38 in place of -inf when a segment is empty

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.segment_max (finding 86ebd47e). Fails with: a segment is empty, dtype(data)=float32.
Actual: AssertionError: expected [  2. -inf], got [ 2.0000e+00 -3.4028e+38]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.segment_max(np.array([1.0, 2.0], np.float32), np.array([0, 0], np.int32), num_segments=2)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([2.0, -np.inf], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
