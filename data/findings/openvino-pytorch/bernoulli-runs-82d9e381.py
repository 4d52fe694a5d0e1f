"""openvino/pytorch: torch.bernoulli: same numbers when the compiled model runs again

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand (finding 82d9e3812ffb6ff2). Fails with: a compiled model runs more than once, a probability is neither 0 nor 1.
Actual: AssertionError: all runs give the same numbers, and are to be independent
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.bernoulli(x0)


model = Model()
inputs = (torch.full((40, 100), 0.5),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
runs = [next(iter(compiled([value.numpy() for value in inputs]).values())).copy() for _ in range(3)]

for got in runs:
    assert got.dtype == np.float32 and got.shape == (40, 100), f"expected float32 of shape (40, 100), got {got.dtype} of {got.shape}"
    assert abs(got.mean() - 0.5) < 0.1, f"expected the mean 0.5, got {got.mean()}"
repeated = all(np.array_equal(runs[0], got) for got in runs[1:])
assert not repeated, "all runs give the same numbers, and are to be independent"
