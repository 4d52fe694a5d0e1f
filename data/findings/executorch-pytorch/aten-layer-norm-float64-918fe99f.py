"""executorch/pytorch: torch.nn.functional.layer_norm: mean and deviation of float64 are kept in float32

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: dtype(input)=float64, normalized_shape has fewer than 256 elements, float32 does not hold the mean, the sum of squares or the inverse of the deviation.
Expected: [-1.342, -0.4472, 0.4472, 1.342]
Actual: [0, 0, 0, 0]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.layer_norm(x0, (4,))


model = Model()
inputs = (torch.tensor([[-3e20, -1e20, 1e20, 3e20]], dtype=torch.float64),)
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
