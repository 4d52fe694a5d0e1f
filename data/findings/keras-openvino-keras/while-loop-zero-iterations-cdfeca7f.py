"""keras-openvino/keras: keras.ops.while_loop: crash when maximum_iterations=0

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Written by hand. Fails with: maximum_iterations=0, the body changes the state.
Expected: [1, 2], the state as it was
Actual: RuntimeError: `convert_to_numpy` failed to convert the tensor.
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

result = keras.ops.while_loop(lambda state: True, lambda state: (state * 2,), (np.array([1.0, 2.0], np.float32),), maximum_iterations=0)[0]
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1.0, 2.0], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
