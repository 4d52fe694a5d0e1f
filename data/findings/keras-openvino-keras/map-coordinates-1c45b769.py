"""keras-openvino/keras: keras.ops.image.map_coordinates: wrong element with fill_mode='reflect' far below 0

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: fill_mode is 'mirror' or 'reflect', a coordinate is at most -n (mirror) or below -n (reflect), for an axis of length n.
Actual: AssertionError: expected [ 7. 11.], got [ 8. 12.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.image.map_coordinates(
    np.arange(16, dtype=np.float32).reshape(4, 4), np.array([[1.0, 2.0], [-5.0, -5.0]], np.float32), 0, fill_mode="reflect"
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([7.0, 11.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
