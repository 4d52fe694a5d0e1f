"""inductor-cuda/pytorch: torch.as_strided_scatter, torch.diagonal_scatter: crash when input is complex

Seen with torch 2.11.0+cu130, cxx g++, backend inductor, gpu NVIDIA H200, cuda 13.0.
Reduced from a test of a campaign by hand. Fails with: dtype(input) is complex64 or complex128.
Actual: InductorError: KeyError: 'complex128'
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.as_strided_scatter(x0, x1, (), (), 0)


model = Model()
inputs = (torch.tensor([-4.826984902407649 - 7.582430495695129j], dtype=torch.complex128), torch.tensor(-0.6046891126565539 - 1.5411692216498662j, dtype=torch.complex128))
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
