"""onnxruntime/onnx: Dropout: nothing dropped when training_mode is true, between two other operators

Seen with onnx 1.23.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a graph by hand (finding 048b99f5ac132fa4). Fails with: training_mode is true, another operator makes the input,
the output is no output of the model, the mask is not read.
Actual: AssertionError: 0.000 of 4000 elements are dropped with ratio = 0.5
"""

import numpy as np
import onnx
import onnxruntime as ort

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 13]>
g (float[4000] input) => (float[4000] out0)
   <float ratio = {0.5}, bool training_mode = {1}>
{
   data = Abs (input)
   draw = Dropout (data, ratio, training_mode)
   out0 = Neg (draw)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"input": np.ones(4000, np.float32)}

session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, inputs)

assert actual.dtype == np.float32, f"expected dtype float32, got {actual.dtype}"
assert actual.shape == (4000,), f"expected shape (4000,), got {actual.shape}"
dropped = float(np.mean(actual == 0))
assert abs(dropped - 0.5) < 0.05, f"{dropped:.3f} of 4000 elements are dropped with ratio = 0.5"
