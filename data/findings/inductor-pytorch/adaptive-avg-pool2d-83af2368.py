"""inductor/pytorch: torch.nn.functional.adaptive_avg_pool2d: refused when an output size is open

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from a test of PyTorch (finding 83af2368973b1c43). Fails with: the output size has a size that was left open.
Expected: the values of eager PyTorch
Actual: InductorError: LoweringException: TypeError: cannot determine truth value of Relational
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.adaptive_avg_pool2d(x0, (None, 2))


model = Model()
inputs = (torch.arange(20.0).reshape(1, 5, 4),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

compiled = torch.compile(model, backend="inductor", fullgraph=True)
torch._dynamo.mark_dynamic(inputs[0], 1)
with torch.no_grad():
    result = compiled(*inputs)
actual = [result.numpy()]

for want, got in zip(expected, actual, strict=True):
    assert got.dtype == want.dtype and got.shape == want.shape, f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
