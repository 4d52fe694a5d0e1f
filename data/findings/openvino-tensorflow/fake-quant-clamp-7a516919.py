"""openvino/tensorflow: tf.quantization.fake_quant_with_min_max_args: no clamp with num_bits=16

Seen with tensorflow 2.21.0, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: num_bits=16, narrow_range=False, min and max are constants, x is no sum or product with a constant, quantizing changes a value of x beyond the tolerance.
Actual: values: expected 5.999908447265625, got 12.182494163513184 (33% of the elements)
"""

import tempfile

import numpy as np
import openvino as ov
import tensorflow as tf

inputs = {
    "x0": np.array([0.0, 1.0, 2.5], np.float32),
}


@tf.function(input_signature=[tf.TensorSpec(value.shape, value.dtype, name) for name, value in inputs.items()])
def serve(x0):
    return {"out0": tf.quantization.fake_quant_with_min_max_args(tf.exp(x0), num_bits=16)}


expected = [value.numpy() for value in serve(*map(tf.constant, inputs.values())).values()]

folder = tempfile.mkdtemp()
module = tf.Module()
module.serve = serve
tf.saved_model.save(module, folder, signatures=serve.get_concrete_function())
compiled = ov.Core().compile_model(ov.convert_model(folder), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled(inputs)
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got.astype("float64"), want.astype("float64"), rtol=0.0005, atol=0.0001)
