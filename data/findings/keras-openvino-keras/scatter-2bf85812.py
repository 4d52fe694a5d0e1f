"""keras-openvino/keras: keras.ops.scatter: crash when indices are neither int32 nor int64

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.scatter (finding 2bf85812). Fails with: dtype(indices) is an integer dtype other than int32 and int64.
Actual: RuntimeError: Check 'indices_et.compatible(element::i32) || indices_et.compatible(element::i64)' failed at src/core/src/op/util/scatter_nd_base.cpp:32:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.scatter(np.array([[0], [2]], np.int16), np.array([1.0, 2.0], np.float32), (4,))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1.0, 0.0, 2.0, 0.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
