"""tvm/pytorch: torch.native_dropout: input in place of the mask when output 1 is used

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from the test of a call by hand (finding 3807e4d09b4c9fdd). Fails with: output 1 is wanted, input is not empty.
Actual: AssertionError: expected dtype bool, got float32
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.native_dropout(x0, 0.0, True)[1]


model = Model()
inputs = (torch.tensor([3.0, 4.0]),)
program = torch.export.export(model, inputs)
with torch.no_grad():
    module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](*(tvm.runtime.tensor(value.contiguous().numpy()) for value in inputs))
actual = [value.numpy() for value in ([result] if hasattr(result, "numpy") else result)]

(mask,) = actual
assert mask.dtype == np.bool_, f"expected dtype bool, got {mask.dtype}"
np.testing.assert_array_equal(mask, [True, True])
