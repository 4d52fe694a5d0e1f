"""onnxruntime/onnx: If, Scan: uninitialised memory when one value of a subgraph is two results

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: one value of the branch that is taken, or of the body, is several of its results.
Expected: [[-1, -2], [-1, -2]], the negated input twice
Actual: values differ: what was in memory, such as [0, 0] (ACTUAL), [-1, -2] (DESIRED) for the first result
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (bool positive, float[2] x) => (float[2] one, float[2] other) {
   one, other = If (positive) <
      then_branch = yes () => (float[2] same, float[2] copy) { same = Abs (x) copy = Identity (same) },
      else_branch = no () => (float[2] negated, float[2] negated) { negated = Neg (x) }
   >
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"positive": np.array(False), "x": np.array([1, 2], np.float32)}
expected = np.array([[-1, -2], [-1, -2]], np.float32)

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
actual = np.array(session.run(None, inputs))

np.testing.assert_array_equal(actual, expected)
