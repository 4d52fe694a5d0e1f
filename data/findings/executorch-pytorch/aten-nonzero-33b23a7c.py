"""executorch/pytorch: torch.nonzero: indices in a wrong order when input is a matrix

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Reduced from a test of PyTorch (finding 33b23a7c0deadc27). Fails with: input has two dimensions or more, the indices in the order of columns are not those in the order of rows.
Expected: [[0, 0], [0, 1], [1, 1]]
Actual: [[0, 1], [0, 1], [0, 1]]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nonzero(x0)


model = Model()
inputs = (torch.tensor([[1, 2], [0, 3]]),)
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
