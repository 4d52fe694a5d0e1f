"""keras-openvino/keras: keras.ops.dot_product_attention: crash when 1 < heads of key < heads of query

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: key and value have fewer heads than query, and more than one.
Actual: RuntimeError: Check 'key_input_correctness' failed at src/core/shape_inference/include/scaled_dot_product_attention_shape_inference.hpp:50:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.dot_product_attention(
    np.array([[[[1.0], [2.0], [3.0], [4.0]]]], np.float32),
    np.array([[[[1.0], [2.0]]]], np.float32),
    np.array([[[[3.0], [5.0]]]], np.float32),
)
actual = keras.ops.convert_to_numpy(result)
expected = np.array([[[[3.0], [3.0], [5.0], [5.0]]]], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
