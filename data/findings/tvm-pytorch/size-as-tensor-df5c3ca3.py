"""tvm/pytorch: torch.where, masked_fill: crash when a value is an open size

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Written by hand. Fails with: a value of where, masked_fill or scalar_tensor is a size that is open, the value is not made a float.
Actual: ValueError: value has to be scalar or Tensor
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.where(x > 2, x, x.shape[0])


model = Model()
value = torch.tensor([1, 2, 5])
with torch.no_grad():
    expected = model(value).numpy()

program = torch.export.export(model, (value,), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](tvm.runtime.tensor(value.numpy()))
actual = (result if hasattr(result, "numpy") else result[0]).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, rtol=0.0005, atol=0.0001)
