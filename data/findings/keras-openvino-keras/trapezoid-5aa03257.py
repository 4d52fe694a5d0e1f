"""keras-openvino/keras: keras.ops.trapezoid: the steps are taken along the last axis where axis is another one

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: x has rank 1 and steps that differ, y a higher rank, axis is not -1.
Actual: AssertionError: expected [10. 13.], got [ 6. 16.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.trapezoid(np.array([[1, 2], [3, 4], [5, 6]], np.float32), x=np.array([0, 1, 3], np.float32), axis=0)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([10, 13], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
