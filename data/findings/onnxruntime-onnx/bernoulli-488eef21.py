"""onnxruntime/onnx: Bernoulli: 1 drawn with probability 1 - p for any p but 0.5

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a graph by hand (finding 488eef21ba72803c). Fails with: input has a value ≠0.5.
Actual: AssertionError: the mean of 4000 draws with p = 0.9 is 0.099
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 15]>
single_operator (float[4000] input) => (float[4000] out0) {
   out0 = Bernoulli <seed = 1.0> (input)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"input": np.full(4000, 0.9, np.float32)}
expected = 0.9

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

mean = float(np.mean(actual, dtype=np.float64))
assert abs(mean - expected) < 0.05, f"the mean of 4000 draws with p = 0.9 is {mean:.3f}"
