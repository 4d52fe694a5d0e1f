"""tinygrad/onnx: ReduceLogSumExp: sum of exponentials overflows or vanishes, infinite result

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: the sum of exp over the reduced elements overflows or vanishes in the dtype, the largest of them is finite.
Actual: values: expected 101.313263, got inf (100% of the elements)
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
g (float[2] x) => (float[] y0) {
   y0 = ReduceLogSumExp (x)
}
""")
inputs = {"x": np.array([100.0, 101.0], np.float32)}
expected = [np.array([101.313263], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.001, atol=1e-06)
