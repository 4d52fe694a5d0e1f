"""keras-openvino/keras: keras.ops.mod: crash when x1 and x2 are bool

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: dtype(x1) and dtype(x2) are bool.
Actual: RuntimeError: Check 'args_et.is_dynamic() || is_supported_et' failed at src/core/src/op/util/binary_elementwise_arithmetic.cpp:26:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

result = keras.ops.mod(np.array([True, False], np.bool_), np.array([True, True], np.bool_))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([0, 0], np.int32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
