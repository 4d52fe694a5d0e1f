"""openvino/pytorch: torch.multinomial: same numbers when it draws twice within a second

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding aae913741ade678d). Fails with: two runs, or two calls of the model, draw within the same second, more than one result is possible.
Actual: AssertionError: runs within one second give the same numbers, and are to be independent
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.multinomial(x0, 4000, replacement=True)


model = Model()
inputs = (torch.ones(4),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
runs = [next(iter(compiled([value.numpy() for value in inputs]).values())).copy() for _ in range(5)]

for got in runs:
    assert got.dtype == np.int64 and got.shape == (4000,), f"expected int64 of shape (4000,), got {got.dtype} of {got.shape}"
    assert abs(got.mean() - 1.5) < 0.2, f"expected the mean 1.5 of 0, 1, 2 and 3, got {got.mean()}"
repeated = any(np.array_equal(one, two) for one, two in zip(runs, runs[1:]))
assert not repeated, "runs within one second give the same numbers, and are to be independent"
