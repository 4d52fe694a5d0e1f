"""tvm/pytorch: crash in _gather

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from test fa244098ebe1. Fails with: any call.
Expected: a compiled model
Actual:   TypeError: GatherElements requires the input indices to have int64 dtype. However, the given indices dtype is T.uint8
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.gather(x0, 0, x1)


torch.manual_seed(0)
model = Model()
inputs = (
    torch.from_numpy(np.array(1.0, np.float32).copy()),
    torch.from_numpy(np.zeros((0,), np.uint8).copy()),
)

program = torch.export.export(model, inputs)
with torch.no_grad():
    module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(value.contiguous().numpy()) for value in inputs))
