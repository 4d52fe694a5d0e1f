"""keras-openvino/keras: keras.ops.segment_prod: crash when segment_ids are neither int32 nor int64

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.segment_prod (finding d1a53b5c). Fails with: dtype(segment_ids) is an integer dtype other than int32 and int64, or is int64 and data of segment_sum or segment_prod has rank 2 or more.
Actual: RuntimeError: Check 'indices_et.compatible(element::i32) || indices_et.compatible(element::i64)' failed at src/core/src/op/util/scatter_nd_base.cpp:32:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.segment_prod(np.array([1.0, 2.0, 3.0, 4.0], np.float32), np.array([0, 0, 1, 1], np.int16), num_segments=2)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([2.0, 12.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
