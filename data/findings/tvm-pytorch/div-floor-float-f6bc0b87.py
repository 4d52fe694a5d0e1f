"""tvm/pytorch: torch.div(rounding_mode="floor"): 1.0 by 0.1 is 10, not 9, for floats

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Written by hand. Fails with: input and other are floating-point, rounding input / other changes its floor, or input is infinite and other finite and not 0, or other is infinite and input finite and of the other sign.
Actual: values differ: [0]: 10.0 (ACTUAL), 9.0 (DESIRED)
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.div(x0, x1, rounding_mode="floor")


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
