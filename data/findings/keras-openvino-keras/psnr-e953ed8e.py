"""keras-openvino/keras: keras.ops.psnr: crash when dtype(x1)≠dtype(x2)

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.ops.psnr (finding e953ed8e). Fails with: dtype(x1)≠dtype(x2).
Actual: RuntimeError: Check 'element::Type::merge(result_et, node->get_input_element_type(0), node->get_input_element_type(1))' failed at src/core/src/op/util/elementwise_args.cpp:18:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.psnr(np.array([1.0, 2.0], np.float32), np.array([1, 4], np.int16), 10.0)
actual = keras.ops.convert_to_numpy(result)
expected = np.array(16.9897, np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
