"""keras-openvino/keras: keras.ops.quantile: NaN where the quantile is an element, and the one below it is -inf

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: method='linear', the quantile is an element of x, the element below it is -inf.
Actual: AssertionError: expected [1.], got [nan]
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.quantile(np.array([-np.inf, 1.0, 2.0], np.float32), 0.5)
actual = keras.ops.convert_to_numpy(result)
expected = np.array(1.0, np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
