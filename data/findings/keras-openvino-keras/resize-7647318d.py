"""keras-openvino/keras: keras.ops.image.resize: off by 1 when interpolation='bicubic' and dtype is uint8

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: interpolation='bicubic', dtype(images)=uint8.
Actual: AssertionError: expected [100 100 100 100], got [101 101 101 101]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

result = keras.ops.image.resize(np.full((1, 4, 4, 1), 100, "uint8"), (2, 2), interpolation="bicubic")
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[[100], [100]], [[100], [100]]]], np.uint8)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
