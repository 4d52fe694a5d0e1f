"""litert-int8/tensorflow: tf.matmul: wrong result when the range of b is not symmetric

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0, full integer quantisation.
Written by hand. Fails with: the calibrated range of b gives a zero point far from 0, a or b has rank 3 or more and b is no constant matrix or neither is a constant and b has two columns or more without transpose_b, the kernels are those of XNNPACK.
Expected: [[7, 10], [15, 22]], within three steps of 22/255
Actual: values differ: [0.95, 3.97, 0.95, 7.94] (ACTUAL), [7, 10, 15, 22] (DESIRED)
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.array([[1, 2], [3, 4]], np.float32),
    "x1": np.array([[1, 2], [3, 4]], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0, x1):
    return {"y": tf.matmul(x0, x1)}


expected = np.array([[7, 10], [15, 22]], np.float32)

module = tf.Module()
module.serve = serve
converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = lambda: iter([inputs])
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
interpreter = tf.lite.Interpreter(model_content=converter.convert(), num_threads=1)
interpreter.allocate_tensors()
actual = interpreter.get_signature_runner()(**inputs)["y"]

np.testing.assert_allclose(actual, expected, rtol=0, atol=3 * 22 / 255)
