"""onnxruntime/onnx: Loop: wrong numbers when a result of the body is the iteration number itself

Seen with onnx 1.23.2, onnxruntime 1.32.0, CPUExecutionProvider, optimization all.
Written by hand. Fails with: a result of the body is the iteration number, as it is, one pass or more runs.
Expected: [0, 1, 2], the numbers of the passes
Actual: values differ: [3, 3, 3] (ACTUAL), [0, 1, 2] (DESIRED)
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (int64 passes) => (int64[n] all) {
   true = Constant <value = bool {1}> ()
   all = Loop <body = step (int64 i, bool going) => (bool going, int64 i) {}> (passes, true)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"passes": np.array(3)}
expected = np.array([0, 1, 2])

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

np.testing.assert_array_equal(actual, expected)
