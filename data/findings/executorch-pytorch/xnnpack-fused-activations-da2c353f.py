"""executorch/pytorch: torch.nn.functional.hardtanh: the first of two activations is lost

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels xnnpack.
Written by hand. Fails with: a relu or hardtanh follows add, sub, mul, linear or a convolution with constant weights, another relu or hardtanh follows it, whose limits are wider at an end, XNNPACK computes them.
Expected: [0, 4]
Actual: [-1, 4]
"""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.nn.functional.hardtanh(torch.relu(x0 + x1), -1.0, 6.0)


model = Model()
inputs = (torch.tensor([-2.0, 3.0]), torch.tensor([1.0, 1.0]))
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
