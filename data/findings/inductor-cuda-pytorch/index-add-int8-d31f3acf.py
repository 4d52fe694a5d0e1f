"""inductor-cuda/pytorch: torch.index_add, torch.scatter_add: crash when dtype(input) is int8, uint8 or int16

Seen with torch 2.11.0+cu130, cxx g++, backend inductor, gpu NVIDIA H200, cuda 13.0.
Reduced from a test of a campaign by hand. Fails with: values are added at places that an index names, dtype(input) is int8, uint8 or int16.
Actual: InductorError: CompilationError: at 17:4:
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.index_add(x0, 0, x1, x2, alpha=2)


model = Model()
inputs = (torch.tensor([-8], dtype=torch.int8), torch.tensor([0]), torch.tensor([6], dtype=torch.int8))
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

model = model.to("cuda")
inputs = tuple(value.to("cuda") for value in inputs)
compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)
actual = [leaf.cpu().contiguous().numpy() for leaf in (result if isinstance(result, tuple) else (result,))]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
