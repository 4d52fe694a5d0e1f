"""keras-openvino/keras: keras.ops.full_like: crash when fill_value is a tensor of several elements

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: fill_value is a tensor, it has several elements or none.
Actual: RuntimeError: Check 'backward_compatible_check || in_out_elements_equal' failed at src/core/shape_inference/include/reshape_shape_inference.hpp:360:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.full_like(np.zeros((2, 2), np.float32), keras.ops.convert_to_tensor(np.array([1, 2], np.float32)))
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[1, 2], [1, 2]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
