"""keras-openvino/keras: keras.layers.Resizing: antialias ignored when interpolation='bicubic'

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.layers.Resizing (finding 2d749cc9). Fails with: interpolation='bicubic', antialias=True, an axis of the image gets shorter.
Actual: AssertionError: expected [ 2.8634  2.7862  2.0659 16.7863], got [ 3.0078 -2.0703 -1.7578 23.3203]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.layers.Resizing(2, 2, interpolation="bicubic", antialias=True)(
    np.array(
        [[[[0.0], [10.0], [0.0], [0.0]], [[0.0], [0.0], [0.0], [0.0]], [[0.0], [0.0], [50.0], [0.0]], [[0.0], [0.0], [0.0], [30.0]]]],
        np.float32,
    )
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[[2.86336], [2.78618]], [[2.06594], [16.7863]]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
