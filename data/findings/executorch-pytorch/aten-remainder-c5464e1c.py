"""executorch/pytorch: torch.remainder: C's sign when integers have different signs

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Reduced from a test of PyTorch (finding c5464e1c5facf93a). Fails with: integers of different signs, with a remainder.
Expected: [2, -2, 4]
Actual: [-3, 2, 4]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.remainder(x0, x1)


model = Model()
inputs = (torch.tensor([-8, 6, 9]), torch.tensor([5, -4, 5]))
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
