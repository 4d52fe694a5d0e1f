"""openvino/tensorflow: tf.random.categorical: wrong result when exp(logits) is beyond the range of float32

Seen with tensorflow 2.21.0, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from test 01798fcccad6 by hand. Fails with: the sum of exp(logits) of a row is not finite in float32 or is below its smallest normal number.
Actual: AssertionError: the share of 1 in 4000 draws of 0 and 1 with the weights 1 and 3 is not 0.75
"""

import tempfile

import numpy as np
import openvino as ov
import tensorflow as tf


@tf.function(input_signature=[])
def serve():
    return {"out0": tf.random.categorical(tf.constant([[100.0, 101.0986123]]), 4000, dtype=tf.int32)}


folder = tempfile.mkdtemp()
module = tf.Module()
module.serve = serve
tf.saved_model.save(module, folder, signatures=serve.get_concrete_function())
compiled = ov.Core().compile_model(ov.convert_model(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([]).values()

assert actual.shape == (1, 4000), f"expected shape (1, 4000), got {actual.shape}"
assert actual.dtype == np.int32, f"expected dtype int32, got {actual.dtype}"
share = float(np.mean(actual == 1))
assert abs(share - 0.75) < 0.05, "the share of 1 in 4000 draws of 0 and 1 with the weights 1 and 3 is not 0.75"
strange = int(np.sum((actual != 0) & (actual != 1)))
assert strange == 0, f"{strange} of 4000 draws are neither 0 nor 1"
