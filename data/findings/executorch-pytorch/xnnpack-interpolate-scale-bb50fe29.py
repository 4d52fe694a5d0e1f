"""executorch/pytorch: torch.nn.functional.interpolate: wrong pixels when scale_factor gives no whole size

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels xnnpack.
Written by hand. Fails with: mode is bilinear, align_corners is not True, scale_factor times a size is no integer, recompute_scale_factor is not True, not all pixels are equal, XNNPACK computes it.
Expected: [3, 5, 13, 15]
Actual: [4.5, 7, 17, 19.5]
"""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.interpolate(x0, scale_factor=0.5, mode="bilinear")


model = Model()
inputs = (torch.arange(25.0).reshape(1, 1, 5, 5),)
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
