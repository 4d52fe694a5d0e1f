"""executorch/pytorch: operator.mod: wrong sign when a negative size is divided

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: the dividend is an expression of a size that is open, dividend and divisor have other signs, the division leaves a remainder.
Expected: [2, 2, 2, 2, 2, 2, 2]
Actual: [-1, -1, -1, -1, -1, -1, -1]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 * (-x0.shape[0] % 3)


model = Model()
inputs = (torch.ones(7),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.export.export(model, inputs, dynamic_shapes=({0: torch.export.Dim("n", min=2, max=20)},))
edge = to_edge_transform_and_lower(exported)
program = Runtime.get().load_program(edge.to_executorch().buffer)
outputs = program.load_method("forward").execute([value.clone() for value in inputs])
actual = [value.numpy() for value in outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype and got.shape == want.shape, f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
