"""tinygrad/onnx: Sin, Cos and Tan: large float64, errors beyond those of float32

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the input is float64, it is about 1e7 in magnitude or larger, it has more than 32 significant bits or the operator is Cos or Tan.
Actual: values: expected -0.494235808, got -0.493930154 (100% of the elements)
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
g (double[2] x) => (double[] y0) {
   y0 = Sin (x)
}
""")
inputs = {"x": np.array([1234567.89, 123456789.1], np.float64)}
expected = [np.array([-0.49423580789695304, 0.9991709051289052], np.float64)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-05, atol=1e-06)
