"""litert/tensorflow: tf.nn.conv2d: wrong result when padding='SAME' and strides leave pixels out at the end

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0.
Reduced from the test of a call with constant weights by hand (finding 448144276a4b748f). Fails with: padding='SAME', the weights are constant, the window is larger than 1×1, (ceil(size / stride) - 1) * stride + window - size < 0 on an axis of the image.
Actual: values differ: [0, 0, 0, 0]: 0.0 (ACTUAL), 63.0 (DESIRED)
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5, 1),
}
weights = np.ones((3, 3, 1, 1), np.float32)


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"out0": tf.nn.conv2d(x0, weights, strides=5, padding="SAME")}


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
