"""keras-openvino/keras: keras.ops.solve_triangular: crash when dtype(a)≠dtype(b)

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.solve_triangular (finding 8e0bdf0e). Fails with: dtype(a)≠dtype(b), dtype(a)≠float64.
Actual: RuntimeError: Check 'element::Type::merge(result_et, get_input_element_type(0), get_input_element_type(1))' failed at src/core/src/op/matmul.cpp:107:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.solve_triangular(np.array([[1.0, 0.0], [2.0, 5.0]], np.float32), np.array([2, 9], np.int16), lower=True)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([2.0, 1.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
