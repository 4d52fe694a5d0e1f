"""tinygrad/onnx: ConstantOfShape: empty shape and a value, the output has rank 1

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the shape is empty, value is given.
Actual: shape: expected (), got (1,)
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 10,
   opset_import: ["" : 21]
>
g (int64[0] shape) => (float[] y0) {
   y0 = ConstantOfShape <value: tensor = float[1] {3}> (shape)
}
""")
inputs = {"shape": np.zeros((0,), np.int64)}
expected = [np.array(3.0, np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
