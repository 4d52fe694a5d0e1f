"""inductor/pytorch: torch.nn.LazyConv1d: crash with dynamic=True when the first call is the compiled one

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: dynamic=True, the first call is the compiled one.
Actual: InternalTorchDynamoError: SymIntArrayRef expected to contain only concrete integers
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.operator = torch.nn.LazyConv1d(5, 3)

    def forward(self, x0):
        return self.operator(x0)


inputs = (torch.ones(4, 5),)
torch.manual_seed(0)
model = Model()
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

torch.manual_seed(0)
compiled = torch.compile(Model(), backend="inductor", fullgraph=True, dynamic=True)
with torch.no_grad():
    result = compiled(*inputs)
actual = [leaf.contiguous().numpy() for leaf in (result if isinstance(result, tuple) else (result,))]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-05, atol=1e-06)
