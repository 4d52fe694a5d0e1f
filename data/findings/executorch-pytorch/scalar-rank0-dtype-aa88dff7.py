"""executorch/pytorch: torch.add: int64 when a Python number is added to an int32 scalar tensor

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Reduced from a test of PyTorch (finding aa88dff703ba0b99). Fails with: input has no dimension, the other operand is a Python number, the dtype of input is narrower than the one that such a number has as a tensor, the call is add, sub, mul, //, div with a rounding_mode or / of floating-point numbers, or is decomposed into them.
Expected: int32 ()
Actual: expected int32 (), got int64 ()
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 + 1


model = Model()
inputs = (torch.tensor(5, dtype=torch.int32),)
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
