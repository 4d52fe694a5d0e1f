"""inductor/pytorch: torch.var, torch.std: 0 for one NaN or infinity when correction is below 1

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from a generated program (finding 9d7e4c979f9c6ffc). Fails with: input has one element, which is NaN or infinite, correction is below 1.
Actual: nan: expected nan, got 0.0
"""

import numpy as np
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.var(x0, 0, correction=0)


model = Model()
inputs = (torch.tensor([float("nan")]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)
actual = [result.numpy()]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
