"""executorch/pytorch: torch.nn.functional.adaptive_avg_pool1d: sums of float64 are kept in float32

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: dtype(input)=float64, output_size is not 1 or (1, 1), float32 does not hold the sum of a window.
Expected: [1e39, 3]
Actual: [inf, 3]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.adaptive_avg_pool1d(x0, 2)


model = Model()
inputs = (torch.tensor([[[1e39, 1e39, 2.0, 4.0]]], dtype=torch.float64),)
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
