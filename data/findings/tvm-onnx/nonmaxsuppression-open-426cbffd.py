"""tvm/onnx: NonMaxSuppression: SIGSEGV when center_point_box=1 and the last size of boxes is open

Seen with onnx 1.23.2, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: center_point_box=1, the last size of boxes is open.
Expected: [[0, 0, 0]]
Actual: the process ended with SIGSEGV
"""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[1, 1, size] boxes, float[1, 1, 1] scores) => (int64[found, 3] z) <int64[1] most = {1}, float[1] iou = {0.5}, float[1] least = {0}> {
    z = NonMaxSuppression<center_point_box=1>(boxes, scores, most, iou, least)
}
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)
inputs = {"boxes": np.ones((1, 1, 4), np.float32), "scores": np.ones((1, 1, 1), np.float32)}
expected = np.array([[0, 0, 0]])

machine = relax.VirtualMachine(tvm.compile(from_onnx(model), "llvm"), tvm.cpu())
actual = machine["main"](*map(tvm.runtime.tensor, inputs.values())).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_array_equal(actual, expected)
