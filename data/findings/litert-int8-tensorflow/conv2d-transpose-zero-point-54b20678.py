"""litert-int8/tensorflow: tf.nn.conv2d_transpose: wrong result when filters is not a constant

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0, full integer quantisation.
Written by hand. Fails with: filters is no constant, its calibrated range gives a zero point far from 0.
Expected: [2, 8, 4, 18, 6, 28, 8, 38], within three steps of 38/255
Actual: values differ: [0, 3.43, 0, 7.45, ...] (ACTUAL), [2, 8, 4, 18, ...] (DESIRED)
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.array([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]], np.float32),
    "x1": np.array([[[[0, 1], [2, 3]]]], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0, x1):
    return {"y": tf.nn.conv2d_transpose(x0, x1, (1, 2, 2, 2), 1, "VALID")}


expected = np.array([[[[2, 8], [4, 18]], [[6, 28], [8, 38]]]], np.float32)

module = tf.Module()
module.serve = serve
converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = lambda: iter([inputs])
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
interpreter = tf.lite.Interpreter(model_content=converter.convert(), num_threads=1)
interpreter.allocate_tensors()
actual = interpreter.get_signature_runner()(**inputs)["y"]

np.testing.assert_allclose(actual, expected, rtol=0, atol=3 * 38 / 255)
