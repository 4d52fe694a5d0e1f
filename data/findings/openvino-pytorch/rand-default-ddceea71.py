"""openvino/pytorch: torch.rand: dtype float32 for float16 when an exported program gives dtype

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding ddceea710f540c2c). Fails with: dtype is given and not float32, a result of this dtype is wanted.
Actual: AssertionError: expected dtype float16, got float32
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self):
        return torch.rand(4000, dtype=torch.float16)


model = Model()
inputs = ()

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float16, f"expected dtype float16, got {actual.dtype}"
assert actual.shape == (4000,), f"expected shape (4000,), got {actual.shape}"
assert abs(actual.astype(np.float64).mean() - 0.5) < 0.05, f"expected the mean 0.5, got {actual.mean()}"
