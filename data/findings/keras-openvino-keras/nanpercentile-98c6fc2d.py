"""keras-openvino/keras: keras.ops.nanpercentile: crash when q is a list

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Found by hand beside the findings of the campaign. Fails with: q is a list or a tuple.
Actual: TypeError: unsupported operand type(s) for /: 'list' and 'float'
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

np.set_printoptions(precision=4, linewidth=200)
result = keras.ops.nanpercentile(np.array([1, 2, 3, 4], np.float32), [25, 75])
actual = keras.ops.convert_to_numpy(result)
expected = np.array([1.75, 3.25], np.float32)

assert actual.dtype == expected.dtype, f"expected dtype {expected.dtype}, got {actual.dtype}"
assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert np.allclose(actual, expected, rtol=1e-3, atol=1e-4, equal_nan=True), f"expected {expected.ravel()}, got {actual.ravel()}"
