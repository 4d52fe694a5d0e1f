"""inductor/pytorch: torch.narrow: crash when start is a tensor whose dtype is not int64

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: start is a tensor, dtype(start) is not int64.
Actual: InternalTorchDynamoError: PendingUnbackedSymbolNotFound: Pending unbacked symbols {u0} not in returned outputs FakeTensor(..., size=(2,)) ((1,), u2).
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.narrow(x0, 0, x1, 1)


model = Model()
inputs = (torch.arange(5.0), torch.tensor(1, dtype=torch.int32))
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
