"""openvino/tensorflow: tf.random.uniform: crash when the numbers are multiplied by a constant ≤0

Seen with tensorflow 2.21.0, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from test 6cbb4484c7f3 by hand. Fails with: floats are multiplied by one constant number ≤0, nothing else reads them.
Actual: RuntimeError: Min value must be less than max value. Got min value: -0, max value: -2
"""

import tempfile

import numpy as np
import openvino as ov
import tensorflow as tf


@tf.function(input_signature=[])
def serve():
    return {"out0": tf.random.uniform([4000]) * -2.0}


folder = tempfile.mkdtemp()
module = tf.Module()
module.serve = serve
tf.saved_model.save(module, folder, signatures=serve.get_concrete_function())
compiled = ov.Core().compile_model(ov.convert_model(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([]).values()

assert actual.shape == (4000,), f"expected shape (4000,), got {actual.shape}"
assert actual.dtype == np.float32, f"expected dtype float32, got {actual.dtype}"
low, high, mean = float(np.min(actual)), float(np.max(actual)), float(np.mean(actual))
assert -2 <= low and high <= 0, f"4000 draws between -2 and 0 are between {low:.3f} and {high:.3f}"
assert abs(mean + 1) < 0.1, f"the mean of 4000 draws between -2 and 0 is {mean:.3f}"
