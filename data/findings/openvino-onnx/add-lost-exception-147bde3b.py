"""openvino/onnx: any operator: an exception at run time is lost when sizes are open and one thread computes

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Fails with: a size is open, a node raises for the sizes of the run, INFERENCE_NUM_THREADS=1 or the process has one core.
Expected: RuntimeError, since 2 and 3 numbers cannot be added
Actual: accepted: expected an error, got [4, 6], the result of the call before
"""

import numpy as np
import onnx
import openvino as ov

text = """<ir_version: 10, opset_import: ["" : 21]>
g (float[a] x, float[b] y) => (float[c] z) { z = Add(x, y) }
"""
model = onnx.parser.parse_model(text)
onnx.checker.check_model(model, full_check=True)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_NUM_THREADS": 1})
compiled([np.array([1, 2], np.float32), np.array([3, 4], np.float32)])
try:
    actual = compiled([np.array([5, 6], np.float32), np.array([7, 8, 9], np.float32)])[0]
except RuntimeError as error:
    raise SystemExit(0) from error  # refused: the bug is gone

raise AssertionError(f"accepted: expected an error, got {actual}")
