"""tinygrad/onnx: ImageDecoder: an image that is not square, height and width are exchanged

Seen with onnx 1.23.2, tinygrad 0.14.0, device CPU, optimization default.
Written by hand. Fails with: width and height of the image differ.
Actual: shape: expected (2, 3, 3), got (3, 2, 3)
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
   opset_import: ["" : 20]
>
g (uint8[78] x) => (uint8[] y0) {
   y0 = ImageDecoder (x)
}
""")
inputs = {
    "x": np.array([66, 77, 78, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 24, 0, 0, 0, 0, 0, 24, 0, 0, 0, 196, 14, 0, 0, 196, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99, 90, 81, 126, 117, 108, 153, 144, 135, 0, 0, 0, 18, 9, 0, 45, 36, 27, 72, 63, 54, 0, 0, 0], np.uint8),
}
expected = [np.array([[[0, 9, 18], [27, 36, 45], [54, 63, 72]], [[81, 90, 99], [108, 117, 126], [135, 144, 153]]], np.uint8)]

outputs = OnnxRunner(Tensor(model.SerializeToString()))(inputs)
actual = [value.numpy() for value in outputs.values()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_array_equal(got, want)
