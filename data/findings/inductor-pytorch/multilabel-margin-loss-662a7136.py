"""inductor/pytorch: torch.nn.functional.multilabel_margin_loss: classes after -1 count as class 0

Seen with torch 2.13.0+cpu, cxx g++, backend inductor.
Reduced from test cda458c90920. Fails with: target has a -1, entries from the first -1 on counted as class 0 change the loss.
Actual: values differ: 2.05 (ACTUAL), 0.85 (DESIRED)
"""

import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.nn.functional.multilabel_margin_loss(x0, x1)


model = Model()
inputs = (torch.tensor([[0.1, 0.2, 0.4, 0.8]]), torch.tensor([[3, 0, -1, 1]]))
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
