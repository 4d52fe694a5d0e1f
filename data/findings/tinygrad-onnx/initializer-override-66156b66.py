"""tinygrad/onnx: Initializer: an input with a default value, the value given is ignored

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: an initializer has the name of an input of the graph, a value is given for it.
Actual: values: expected 11, got 2 (100% of the elements)
"""

import numpy as np
import onnx
from tinygrad import Tensor
from tinygrad.helpers import DEV
from tinygrad.nn.onnx import OnnxRunner

DEV.value = "CPU"
model = onnx.parser.parse_model("""
<
   ir_version: 8,
   opset_import: ["" : 17]
>
g (float[2] x, float[2] w) => (float[2] y) 
   <float[2] w =  {1,1}>
{
   y = Add (x, w)
}
""")
inputs = {"x": np.array([1.0, 2.0], np.float32), "w": np.array([10.0, 20.0], np.float32)}
expected = [np.array([11.0, 22.0], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
