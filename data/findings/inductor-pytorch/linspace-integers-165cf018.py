"""inductor/pytorch: torch.linspace: wrong result when dtype is an integer dtype and start or end is not whole

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: dtype is an integer dtype, end or start is not whole.
Actual: values differ: [2]: 5 (ACTUAL), 4 (DESIRED) [3]: 7 (ACTUAL), 6 (DESIRED)
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 + torch.linspace(0.5, 9.7, 5, dtype=torch.int64)


model = Model()
inputs = (torch.tensor(0),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)
actual = [leaf.contiguous().numpy() for leaf in (result if isinstance(result, tuple) else (result,))]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
