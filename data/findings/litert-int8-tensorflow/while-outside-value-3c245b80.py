"""litert-int8/tensorflow: tf.while_loop: the converter dies of a loop that reads a value from outside

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0, full integer quantisation.
Written by hand. Fails with: a representative dataset is given, a loop reads a float32 tensor that is no constant, from outside or as a loop variable that it does not change.
Expected: [3, 6], which are x + x + x
Actual: the process ended with SIGSEGV
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.array([1, 2], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"y": tf.while_loop(lambda i, b: i < 2, lambda i, b: (i + 1, b + x0), (0, x0))[1]}


expected = np.array([3, 6], np.float32)

module = tf.Module()
module.serve = serve
converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = lambda: iter([inputs])
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
interpreter = tf.lite.Interpreter(model_content=converter.convert(), num_threads=1)
interpreter.allocate_tensors()
actual = interpreter.get_signature_runner()(**inputs)["y"]

np.testing.assert_allclose(actual, expected, rtol=0, atol=3 * 6 / 255)
