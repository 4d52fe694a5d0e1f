"""litert/tensorflow: tf.while_loop: wrong result when a state is handed on in the place of a later one

Seen with tensorflow 2.21.0, LiteRT of tensorflow 2.21.0.
Written by hand. Fails with: the body hands a state on unchanged in the place of a later state, the next value of the former is another one, there is one pass or more.
Expected: [8], [5], the sum of the last two states, from 1 and 1
Actual: values differ: 16.0 (ACTUAL), 8.0 (DESIRED)
"""

import numpy as np
import tensorflow as tf

inputs = {
    "x0": np.ones(1, np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    _, last, before = tf.while_loop(lambda i, a, b: i < 4, lambda i, a, b: (i + 1, a + b, a), (0, x0, x0))
    return {"out0": last, "out1": before}


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
