"""keras-openvino/keras: keras.ops.batch_normalization: crash when its operands have several dtypes

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.batch_normalization (finding 67a8effd). Fails with: x, mean, variance, offset and scale have not all one dtype.
Actual: RuntimeError: Check 'element::Type::merge(data_et, data_et, input_et)' failed at src/core/src/op/batch_norm.cpp:23:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.batch_normalization(
    np.array([[1.0, 2.0], [3.0, 5.0]], np.float32), np.array([1, 2], np.int32), np.array([1, 4], np.int32), axis=-1, epsilon=0.001
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[0.0, 0.0], [1.999, 1.49981]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
