"""executorch/pytorch: torch.maximum: a number when an operand is NaN

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels xnnpack.
Written by hand. Fails with: the first operand has NaN and several elements along its last axis or it has one there and the second has NaN, the other operand is no NaN at that place, XNNPACK computes it.
Expected: [nan, nan]
Actual: [1, nan]
"""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.maximum(x0, x1)


model = Model()
inputs = (torch.tensor([float("nan"), 2.0]), torch.tensor([1.0, float("nan")]))
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
