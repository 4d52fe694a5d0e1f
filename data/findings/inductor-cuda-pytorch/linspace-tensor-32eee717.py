"""inductor-cuda/pytorch: torch.linspace: crash when start or end is a tensor on the GPU and device='cpu'

Seen with torch 2.11.0+cu130, cxx g++, backend inductor, gpu NVIDIA H200, cuda 13.0.
Reduced from a test of a campaign by hand. Fails with: start or end is a tensor on the GPU, device is cpu or not given, steps≥2.
Actual: BackendCompilerFailed: RuntimeError: Unhandled FakeTensor Device Propagation for aten.mul.Tensor, found two different devices cuda:0, cpu
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.linspace(x0, x1, 50, dtype=torch.float16, device="cpu")


model = Model()
inputs = (torch.tensor(0), torch.tensor(1))
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
