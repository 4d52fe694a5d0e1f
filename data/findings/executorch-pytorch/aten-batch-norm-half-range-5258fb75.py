"""executorch/pytorch: torch.nn.functional.batch_norm: inf or NaN when a step leaves the range of float16

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: dtype(input)=float16, running statistics are used, input minus the mean or 1/sqrt(var + eps) or their product, with or without weight, is larger than 65504, the result is not.
Expected: [700]
Actual: [inf]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.nn.functional.batch_norm(x0, x1, x2)


model = Model()
inputs = (torch.tensor([[60000.0]], dtype=torch.float16), torch.tensor([-10000.0], dtype=torch.float16), torch.tensor([10000.0], dtype=torch.float16))
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
