"""executorch/pytorch: torch.div: wrong quotient of integers beyond 2**53 when it is rounded to 0

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: rounding_mode=trunc, dtype of the result is int64, the quotient is larger than 2**53 in magnitude and not a number of float64.
Expected: [9007199254740993]
Actual: [9007199254740992]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.div(x0, x1, rounding_mode="trunc")


model = Model()
inputs = (torch.tensor([2**53 + 1]), torch.tensor([1]))
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
