"""openvino/pytorch: torch.randint: fractions or crash when low is given and dtype is not int32 or int64

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 5e9b750ee6124491). Fails with: low is given, dtype is neither int32 nor int64.
Actual: AssertionError: expected whole numbers, got others
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self):
        return torch.randint(0, 5, (4000,), dtype=torch.float32)


model = Model()
inputs = ()

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float32 and actual.shape == (4000,), f"expected float32 of shape (4000,), got {actual.dtype} of {actual.shape}"
assert (actual == np.floor(actual)).all(), "expected whole numbers, got others"
shares = np.bincount(actual.astype(int), minlength=5) / 4000
np.testing.assert_allclose(shares, [0.2] * 5, atol=0.06)
