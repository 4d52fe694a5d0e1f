"""keras-openvino/keras: keras.ops.image.resize: pixels repeated by antialias when one axis grows

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: interpolation='bilinear', antialias=True, one axis of the image gets shorter and one longer.
Actual: AssertionError: expected [1.4286 1.6786 2.1786 2.4286 4.5714 4.8214 5.3214 5.5714], got [1.4286 1.4286 2.4286 2.4286 4.5714 4.5714 5.5714 5.5714]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.image.resize(np.arange(8, dtype=np.float32).reshape(1, 4, 2, 1), (2, 4), antialias=True)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[[1.42857], [1.67857], [2.17857], [2.42857]], [[4.57143], [4.82143], [5.32143], [5.57143]]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
