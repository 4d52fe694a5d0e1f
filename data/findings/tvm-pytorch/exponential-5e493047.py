"""tvm/pytorch: torch.Tensor.exponential_: zeros in place of random numbers with any call

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from the test of a random operator (finding 5e493047ee92fe27). Fails with: the result is not empty.
Actual: AssertionError: the mean of 4000 draws with lambd = 1 is 0.000
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0):
        return x0.clone().exponential_()


model = Model()
inputs = (torch.zeros(4000),)
program = torch.export.export(model, inputs)
with torch.no_grad():
    module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(value.contiguous().numpy()) for value in inputs))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
mean = float(np.mean(draw, dtype=np.float64))
assert abs(mean - 1) < 0.15, f"the mean of 4000 draws with lambd = 1 is {mean:.3f}"
