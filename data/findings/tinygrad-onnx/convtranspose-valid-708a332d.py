"""tinygrad/onnx: ConvTranspose: auto_pad VALID, the output is cut or padded as by SAME_LOWER

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: auto_pad is VALID, the dilated kernel and output_padding are together another size than the stride, output_shape is not given.
Actual: shape: expected (1, 1, 5), got (1, 1, 3)
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
g (float[1,1,3] x, float[1,1,3] w) => (float[] y0) {
   y0 = ConvTranspose <auto_pad: string = "VALID", strides: ints = [1]> (x, w)
}
""")
inputs = {"x": np.array([[[1.0, 2.0, 3.0]]], np.float32), "w": np.array([[[1.0, 2.0, 3.0]]], np.float32)}
expected = [np.array([[[1.0, 4.0, 10.0, 12.0, 9.0]]], np.float32)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0001, atol=1e-06)
