"""openvino/pytorch: torch.rand_like: uninitialised memory when input is 0-d

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand (finding 8d0837bd37806bb2). Fails with: rank(input)=0.
Actual: AssertionError: expected numbers between 1 and 2 that are not all equal, got others
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.rand_like(x0) + 1


model = Model()
inputs = (torch.tensor(0.5),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
runs = [next(iter(compiled([value.numpy() for value in inputs]).values())).copy() for _ in range(50)]

for got in runs:
    assert got.dtype == np.float32 and got.shape == (), f"expected float32 of shape (), got {got.dtype} of {got.shape}"
drawn = all(1 <= got <= 2 for got in runs) and len(set(map(float, runs))) > 20
assert drawn, "expected numbers between 1 and 2 that are not all equal, got others"
