"""litert-int8/tensorflow: any call: the converter dies when the calibrated range is not finite

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0, full integer quantisation.
Written by hand. Fails with: a representative dataset is given, the range of a calibrated value is not finite or wider than float32 holds, the value is no result of Add, Sub, Mul, Div or Pow and not only an operand of Minimum or Maximum.
Expected: a model, or an exception
Actual: the process ended with SIGSEGV
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.array([100, 1], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"y": tf.math.exp(x0) + 1}


module = tf.Module()
module.serve = serve
converter = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
converter.representative_dataset = lambda: iter([inputs])
converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
try:
    converter.convert()
except (RuntimeError, ValueError) as error:
    print("refused:", error)
