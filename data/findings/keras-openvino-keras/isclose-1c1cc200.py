"""keras-openvino/keras: keras.ops.isclose: crash when equal_nan=True

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: equal_nan=True.
Actual: AttributeError: module 'openvino.opset16' has no attribute 'isnan'. Did you mean: 'is_nan'?
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

result = keras.ops.isclose(np.array([1.0, np.nan], np.float32), np.array([1.0, np.nan], np.float32), equal_nan=True)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([True, True], np.bool_)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
