"""litert-int8/tensorflow: tf.nn.conv2d: crash when filters is not a constant

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0, full integer quantisation.
Written by hand. Fails with: filters is no constant, its calibrated range gives a zero point that is not 0.
Expected: [4, 7, 8, 15, 12, 23, 16, 31], within three steps of 31/255
Actual: RuntimeError: tensorflow/lite/kernels/conv.cc:372 affine_quantization->zero_point->data[i] != 0 (-128 != 0)
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.array([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]], np.float32),
    "x1": np.array([[[[0, 1], [2, 3]]]], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0, x1):
    return {"y": tf.nn.conv2d(x0, x1, 1, "VALID")}


expected = np.array([[[[4, 7], [8, 15]], [[12, 23], [16, 31]]]], np.float32)

module = tf.Module()
module.serve = serve
converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = lambda: iter([inputs])
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
interpreter = tf.lite.Interpreter(model_content=converter.convert(), num_threads=1)
interpreter.allocate_tensors()
actual = interpreter.get_signature_runner()(**inputs)["y"]

np.testing.assert_allclose(actual, expected, rtol=0, atol=3 * 31 / 255)
