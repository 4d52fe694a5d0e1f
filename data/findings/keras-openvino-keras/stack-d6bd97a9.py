"""keras-openvino/keras: keras.ops.stack: crash when the third array has a wider dtype

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: three arrays or more, one behind the second has a dtype that widens those before it.
Actual: RuntimeError: Check 'element::Type::merge(inputs_et, inputs_et, get_input_element_type(i))' failed at src/core/src/op/concat.cpp:36:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.stack([np.array([1], np.int32), np.array([2], np.int32), np.array([3.5], np.float32)])
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[1], [2], [3.5]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
