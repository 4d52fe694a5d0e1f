"""openvino/pytorch: torch.normal: equal numbers when std has more elements than mean

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding f90e3ad10b168a32). Fails with: mean is a number or a tensor of fewer elements than std, std is a tensor.
Actual: AssertionError: expected 4000 different numbers, got 1
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.normal(0.0, x0)


model = Model()
inputs = (torch.ones(4000),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float32 and actual.shape == (4000,), f"expected float32 of shape (4000,), got {actual.dtype} of {actual.shape}"
different = len(np.unique(actual))
assert different > 3900, f"expected 4000 different numbers, got {different}"
assert abs(actual.mean()) < 0.15 and abs(actual.std() - 1) < 0.15, f"expected mean 0 and deviation 1, got {actual.mean()} and {actual.std()}"
