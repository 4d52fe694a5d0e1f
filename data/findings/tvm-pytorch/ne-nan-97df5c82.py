"""tvm/pytorch: torch.ne: False in place of True for NaN

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Written by hand. Fails with: input or other has a NaN.
Actual: values differ: [0]: False (ACTUAL), True (DESIRED)
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.ne(x0, x1)


model = Model()
inputs = (torch.tensor([float("nan"), 1.0]), torch.tensor([float("nan"), 2.0]))
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

program = torch.export.export(model, inputs)
with torch.no_grad():
    module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(value.contiguous().numpy()) for value in inputs))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
