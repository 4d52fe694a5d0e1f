"""inductor/pytorch: torch.acosh: infinity when input has a value whose square overflows

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from a generated program (finding 14777a7a0c0cad65). Fails with: dtype(input) is float32, bfloat16 or float64, input has a value above the square root of the largest one of its dtype, input has as many elements as a vector or nearly so.
Actual: inf: expected 46.744845, got inf
"""

import numpy as np
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.acosh(x0)


model = Model()
inputs = (torch.full((16,), 1e20),)
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
