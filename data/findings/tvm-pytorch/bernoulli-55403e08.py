"""tvm/pytorch: torch.bernoulli: input in place of a random draw when p is given

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from the test of a random operator (finding 55403e0872a4d87f). Fails with: random numbers are drawn by aten.bernoulli with p, its
input is not itself a draw.
Actual: AssertionError: 4000 of 4000 draws are neither 0 nor 1
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.bernoulli(x0, 0.5)


model = Model()
inputs = (torch.full((4000,), 0.25),)
program = torch.export.export(model, inputs)
with torch.no_grad():
    module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(value.contiguous().numpy()) for value in inputs))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
others = int(np.sum((draw != 0) & (draw != 1)))
assert others == 0, f"{others} of 4000 draws are neither 0 nor 1"
mean = float(np.mean(draw, dtype=np.float64))
assert abs(mean - 0.5) < 0.05, f"the mean of 4000 draws with p = 0.5 is {mean:.3f}"
