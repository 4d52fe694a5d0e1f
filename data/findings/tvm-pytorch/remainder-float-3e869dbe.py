"""tvm/pytorch: torch.remainder: 1.0 by 0.1 is 0, not 0.1, for floats

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Written by hand. Fails with: the result is floating-point, rounding input / other changes its floor, or rounding other times that floor changes it, or other is infinite and input finite.
Actual: values differ: [0]: 0.0 (ACTUAL), 0.09999998658895493 (DESIRED)
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.remainder(x0, x1)


model = Model()
inputs = (torch.tensor([1.0, 7.0]), torch.tensor([0.1, 2.0]))
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
