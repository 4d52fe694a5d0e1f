"""openvino/pytorch: torch.normal: crash when mean or std is a tensor of another dtype than float32

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 753eed50f72f4231). Fails with: mean or std is a tensor, its dtype is not float32.
Actual: OpConversionFailure: Arguments do not have the same element type (arg0 element type: f32, arg1 element type: f64).
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.normal(x0, 2.0)


model = Model()
inputs = (torch.zeros(4000, dtype=torch.float64),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float64 and actual.shape == (4000,), f"expected float64 of shape (4000,), got {actual.dtype} of {actual.shape}"
assert abs(actual.mean()) < 0.3 and abs(actual.std() - 2) < 0.3, f"expected mean 0 and deviation 2, got {actual.mean()} and {actual.std()}"
