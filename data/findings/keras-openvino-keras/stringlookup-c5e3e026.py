"""keras-openvino/keras: keras.layers.StringLookup: abort (SIGSEGV) when strings are made a tensor

Seen with keras 3.15.1, openvino 2026.4.1-22982-e213a147257-releases/2026/4.
Reduced from the test of keras.layers.StringLookup (finding c5e3e026). Fails with: an array of strings is made a tensor with dtype='string'.
Actual: signal 11:
"""

import os

import numpy as np

os.environ["KERAS_BACKEND"] = "openvino"  # Keras reads it when it is imported
import keras

try:
    tensor = keras.ops.convert_to_tensor(np.array([["a", "b"], ["c", "d"]] * 50), dtype="string")
    actual = keras.ops.convert_to_numpy(tensor)[0].tolist()
except (NotImplementedError, TypeError, ValueError) as error:  # an error says that the backend has no strings
    print(error)
else:
    assert actual == ["a", "b"], f"expected ['a', 'b'], got {actual}"
