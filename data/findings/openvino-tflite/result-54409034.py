"""openvino/tflite: tf.rank, tf.shape: output is missing when an output is a constant

Seen with tensorflow 2.21.0, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from test 0547cd9a51c9 by hand. Fails with: an output is a constant.
Actual: expected 2 outputs, got 1
"""

import tempfile

import numpy as np
import openvino as ov
import tensorflow as tf

inputs = {
    "x0": np.array([1, 2], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"out0": tf.rank(x0), "out1": x0 + 1}


expected = [value.numpy() for value in serve(*map(tf.constant, inputs.values())).values()]

module = tf.Module()
module.serve = serve
content = tf.lite.TFLiteConverter.from_concrete_functions([serve.get_concrete_function()], module).convert()
path = tempfile.mkdtemp() + "/model.tflite"
with open(path, "wb") as file:
    file.write(content)
compiled = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
names = [port.get_any_name().removeprefix("serving_default_").removesuffix(":0") for port in compiled.inputs]
result = compiled([inputs[name] for name in names])
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
