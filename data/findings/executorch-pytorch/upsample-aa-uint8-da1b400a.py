"""executorch/pytorch: torch.nn.functional.interpolate: too small when antialias and input is uint8

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Reduced from a test of PyTorch (finding da1b400a200199f8). Fails with: dtype(input)=uint8, antialias=True, mode is bilinear, the size changes.
Expected: [100]
Actual: [88]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.interpolate(x0, size=(1, 1), mode="bilinear", antialias=True)


model = Model()
inputs = (torch.full((1, 1, 2, 8), 100, dtype=torch.uint8),)
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
    np.testing.assert_array_equal(got, want)
