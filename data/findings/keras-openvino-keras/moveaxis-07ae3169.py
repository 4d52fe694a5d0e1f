"""keras-openvino/keras: keras.ops.moveaxis: axes end at other places than destination says

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: several axes are moved one after another, later moves leave one that was moved before at another place.
Actual: AssertionError: expected shape (4, 5, 2, 3), got (4, 2, 5, 3)
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.moveaxis(np.zeros((2, 3, 4, 5), np.float32), (0, 1), (2, 3))
actual = keras.ops.convert_to_numpy(result)
expected = np.zeros((4, 5, 2, 3), np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
