"""executorch/pytorch: torch.nn.functional.pdist: NaN is lost when p is an infinity

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: p=inf, input has NaN and several rows.
Expected: [nan]
Actual: [1]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.pdist(x0, p=float("inf"))


model = Model()
inputs = (torch.tensor([[float("nan"), 1.0], [0.0, 0.0]]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.export.export(model, inputs)
edge = to_edge_transform_and_lower(exported)
program = Runtime.get().load_program(edge.to_executorch().buffer)
outputs = program.load_method("forward").execute([value.clone() for value in inputs])
actual = [value.numpy() for value in outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype and got.shape == want.shape, f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
