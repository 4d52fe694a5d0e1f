"""executorch/pytorch: torch.sqrt: 1.5 times the root when input is larger than 2**126, NaN when it is inf

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels xnnpack.
Written by hand. Fails with: input is larger than 2**126, which is 8.5e37, XNNPACK computes it.
Expected: [9.487e18, inf, 2]
Actual: [1.423e19, nan, 2]
"""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.sqrt(x0)


model = Model()
inputs = (torch.tensor([9e37, float("inf"), 4.0]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.export.export(model, inputs)
edge = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
program = Runtime.get().load_program(edge.to_executorch().buffer)
outputs = program.load_method("forward").execute([value.clone() for value in inputs])
actual = [value.numpy() for value in outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype and got.shape == want.shape, f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
