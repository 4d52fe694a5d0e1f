"""inductor/pytorch: torch.nextafter: the input itself for bfloat16 and float16

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Written by hand. Fails with: dtype is bfloat16 or float16, input and other differ.
Actual: values differ: [0]: 7.62939453125e-06 (ACTUAL), 0.5 (DESIRED)
"""

import numpy as np
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.nextafter(x0, x1).float() - x0.float()


model = Model()
inputs = (torch.tensor([100.0], dtype=torch.bfloat16), torch.tensor([200.0], dtype=torch.bfloat16))
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

compiled = torch.compile(model, backend="inductor", fullgraph=True)
with torch.no_grad():
    result = compiled(*inputs)
actual = [leaf.contiguous().numpy() for leaf in (result if isinstance(result, tuple) else (result,))]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
