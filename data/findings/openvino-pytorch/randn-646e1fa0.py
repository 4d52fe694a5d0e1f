"""openvino/pytorch: torch.randn: wrong distribution when dtype is bfloat16

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 646e1fa00459e9cb). Fails with: dtype is bfloat16.
Actual: AssertionError: expected no normal number beyond 8, got some
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self):
        return torch.randn(4000, dtype=torch.bfloat16).float()


model = Model()
inputs = ()

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float32 and actual.shape == (4000,), f"expected float32 of shape (4000,), got {actual.dtype} of {actual.shape}"
assert np.abs(actual).max() < 8, "expected no normal number beyond 8, got some"
assert abs(actual.mean()) < 0.15 and abs(actual.std() - 1) < 0.12, f"expected mean 0 and deviation 1, got {actual.mean()} and {actual.std()}"
