"""openvino/pytorch: torch.rand_like: dtype float32 for float16 when dtype is not given

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 61dee25951dd158e). Fails with: dtype(input) is not float32, dtype is not given.
Actual: AssertionError: expected dtype float16, got float32
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.rand_like(x0)


model = Model()
inputs = (torch.zeros(4000, dtype=torch.float16),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float16, f"expected dtype float16, got {actual.dtype}"
assert actual.shape == (4000,), f"expected shape (4000,), got {actual.shape}"
assert abs(actual.astype(np.float64).mean() - 0.5) < 0.15, f"expected the mean 0.5, got {actual.mean()}"
