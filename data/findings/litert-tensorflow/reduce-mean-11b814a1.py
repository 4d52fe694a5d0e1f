"""litert/tensorflow: tf.math.reduce_mean, tf.math.reduce_sum: garbage when a reduced axis has size 0

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0.
Reduced from the test of tf.nn.moments by hand (finding 11b814a15db13ab6). Fails with: the call is or decomposes to a sum or a mean or a maximum or a minimum of an input of the model, its dtype is float32, a reduced axis has size 0.
Actual: nan location mismatch
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.zeros((256, 0), np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"out0": tf.math.reduce_mean(x0, axis=1)}


expected = [value.numpy() for value in serve(*map(tf.constant, inputs.values())).values()]

module = tf.Module()
module.serve = serve
content = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module).convert()
interpreter = tf.lite.Interpreter(model_content=content, num_threads=1)
interpreter.allocate_tensors()
result = interpreter.get_signature_runner()(**inputs)
actual = [result[name] for name in sorted(result)]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
