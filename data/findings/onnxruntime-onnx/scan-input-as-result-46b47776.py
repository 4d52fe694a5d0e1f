"""onnxruntime/onnx: Scan: uninitialised memory when a result of the body is an input of it

Seen with onnx 1.23.2, onnxruntime 1.32.0, CPUExecutionProvider, optimization all.
Written by hand. Fails with: a result of the body is an input of the body, as it is.
Expected: [[1, 2, 3], [4, 5, 6]], the rows one after the other
Actual: values differ: other numbers in each run, such as [[0, 0, 0], [0, 0, 0]] (ACTUAL), [[1, 2, 3], [4, 5, 6]] (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float[2, 3] rows) => (float[2, 3] all) {
   all = Scan <num_scan_inputs = 1, body = step (float[3] row) => (float[3] row) {}> (rows)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"rows": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
expected = inputs["rows"]

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

np.testing.assert_array_equal(actual, expected)
