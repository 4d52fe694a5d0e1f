"""keras-openvino/keras: keras.ops.image.resize: a pixel too far when interpolation='nearest' and an axis shrinks

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: interpolation='nearest', an axis of the image gets shorter, its old length is no even multiple of the new one.
Actual: AssertionError: expected [ 0.  2.  3.  8. 10. 11. 12. 14. 15.], got [ 5.  6.  7.  9. 10. 11. 13. 14. 15.]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.image.resize(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1), (3, 3), interpolation="nearest")
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[[0.0], [2.0], [3.0]], [[8.0], [10.0], [11.0]], [[12.0], [14.0], [15.0]]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
