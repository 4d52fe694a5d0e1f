"""openvino/pytorch: torch.randint: crash when low is not given

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding a88cadd4122f09b1). Fails with: low is not given.
Actual: OpConversionFailure: Got less inputs 6 than expected 7
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self):
        return torch.randint(5, (4000,))


model = Model()
inputs = ()

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.int64 and actual.shape == (4000,), f"expected int64 of shape (4000,), got {actual.dtype} of {actual.shape}"
shares = np.bincount(actual, minlength=5) / 4000
np.testing.assert_allclose(shares, [0.2] * 5, atol=0.06)
