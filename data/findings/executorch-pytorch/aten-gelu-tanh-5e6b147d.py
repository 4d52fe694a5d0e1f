"""executorch/pytorch: torch.nn.functional.gelu: the exact function when approximate is tanh

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels xnnpack.
Reduced from a test of PyTorch (finding 5e6b147d79306883). Fails with: approximate=tanh, dtype(input)=float32, XNNPACK computes it.
Expected: [-0.00364, 2.27567]
Actual: [-0.00405, 2.27533]
"""

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.gelu(x0, approximate="tanh")


model = Model()
inputs = (torch.tensor([-3.0, 2.3]),)
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
