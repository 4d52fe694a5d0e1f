"""openvino/tensorflow: tf.random.categorical: crash when the dtype is the default int64

Seen with tensorflow 2.21.0, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 2c39209f0b16c3a9). Fails with: dtype=int64 or not given, the model is a SavedModel.
Actual: OpConversionFailure: Attribute with name 'output_dtype' does not exist
"""

import tempfile

import numpy as np
import openvino as ov
import tensorflow as tf


@tf.function(input_signature=[])
def serve():
    return {"out0": tf.random.categorical(tf.constant([[0.0, 1.0986123]]), 4000)}


folder = tempfile.mkdtemp()
module = tf.Module()
module.serve = serve
tf.saved_model.save(module, folder, signatures=serve.get_concrete_function())
compiled = ov.Core().compile_model(ov.convert_model(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([]).values()

assert actual.shape == (1, 4000), f"expected shape (1, 4000), got {actual.shape}"
assert actual.dtype == np.int64, f"expected dtype int64, got {actual.dtype}"
strange = int(np.sum((actual != 0) & (actual != 1)))
assert strange == 0, f"{strange} of 4000 draws are neither 0 nor 1"
mean = float(np.mean(actual))
assert abs(mean - 0.75) < 0.05, f"the mean of 4000 draws of 0 and 1 with the weights 1 and 3 is {mean:.3f}"
