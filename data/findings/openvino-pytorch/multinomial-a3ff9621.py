"""openvino/pytorch: torch.multinomial: crash when input is a matrix and two operators read the result

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding a3ff962118ae1ac1). Fails with: rank(input)=2, the result is read by two operators or is an output twice, or is an output and read.
Actual: RuntimeError: [CPU] Multinomial node with name 'aten::multinomial/Multinomial' has incorrect number of output edges.
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        chosen = torch.multinomial(x0, 1)
        return chosen + 1, chosen * chosen


model = Model()
inputs = (torch.ones(4000, 4),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

assert [got.shape for got in actual] == [(4000, 1), (4000, 1)], f"expected two results of shape (4000, 1), got {[got.shape for got in actual]}"
assert all(got.dtype == np.int64 for got in actual), f"expected int64, got {[got.dtype for got in actual]}"
np.testing.assert_array_equal((actual[0] - 1) ** 2, actual[1])
assert set(np.unique(actual[0])) == {1, 2, 3, 4}, f"expected 1, 2, 3 and 4, got {np.unique(actual[0])}"
