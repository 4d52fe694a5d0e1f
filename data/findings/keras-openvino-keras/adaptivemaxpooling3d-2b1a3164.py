"""keras-openvino/keras: keras.layers.AdaptiveMaxPooling3D: crash when the batch is empty

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.layers.AdaptiveMaxPooling3D (finding 2b1a3164). Fails with: the batch of a pooling is empty, output_size is not the size of the input.
Actual: RuntimeError: Check 'batch_size.is_dynamic() || batch_size.get_length() > 0' failed at src/core/shape_inference/include/pooling_shape_inference_util.hpp:281:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.adaptive_max_pool(np.zeros((0, 4, 2), np.float32), 2)
actual = keras.ops.convert_to_numpy(result)
expected = np.zeros((0, 2, 2), np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
