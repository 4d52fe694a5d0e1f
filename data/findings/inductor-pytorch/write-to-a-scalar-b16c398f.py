"""inductor/pytorch: torch.Tensor.add_: write lost when input is a float64 of rank 0

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from test 87337c55ee32. Fails with: writes after the call, dtype(input)=float64, rank(input)=0.
Actual: values: expected 2.0, got 1.0
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        x1.add_(1)
        return x0 * 2


model = Model()
inputs = (torch.tensor([1.0, 2.0]), torch.tensor(1.0, dtype=torch.float64))
own = [value.clone() for value in inputs]
with torch.no_grad():
    model(*own)
expected = [value.numpy() for value in own]

compiled = torch.compile(model, backend="inductor", fullgraph=True)
own = [value.clone() for value in inputs]
with torch.no_grad():
    compiled(*own)
actual = [value.numpy() for value in own]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=1e-06, atol=1e-09)
