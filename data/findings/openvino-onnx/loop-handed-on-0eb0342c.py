"""openvino/onnx: Loop: wrong result when a state is handed on in the place of a later one

Seen with onnx 1.23.2, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the body hands a state on in the place of a later state, as it is or by a node that is optimised away such as Max of it alone, Dropout, Cast or Reshape but not Identity, the next value of the former is another one, the body reads the values of the later one, there are two passes or more.
Expected: [8, 5], the sum of the last two states, from 1 and 1
Actual: values differ: [16, 8] (ACTUAL), [8, 5] (DESIRED)
"""

import numpy as np
import onnx
import openvino as ov

model = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 18]>
g (float one) => (float last, float before) {
   passes = Constant <value_int = 4> ()
   true = Constant <value = bool {1}> ()
   last, before = Loop <body = step (int64 i, bool going, float a, float b) => (bool going, float sum, float a) {
      sum = Add (a, b)
   }> (passes, true, one, one)
}
""")
onnx.checker.check_model(model, full_check=True)
inputs = {"one": np.array(1, np.float32)}
expected = np.array([8, 5], np.float32)

core = ov.Core()
compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = np.array([*compiled(inputs).values()])

np.testing.assert_array_equal(actual, expected)
