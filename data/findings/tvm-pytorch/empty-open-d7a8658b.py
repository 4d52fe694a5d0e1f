"""tvm/pytorch: torch.empty: crash when a size is an open size

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: a size is a size that is open, or the call is empty_like of a tensor with one.
Actual: TypeError: Mismatched type on argument #0 when calling: `relax.ShapeExpr(0: Array<ir.Expr>, 1: ir.Span)`
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.empty(x.shape[0]).fill_(2.0)


model = Model()
value = torch.tensor([1.0, 2.0])
with torch.no_grad():
    expected = model(value).numpy()

program = torch.export.export(model, (value,), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](tvm.runtime.tensor(value.numpy()))
actual = (result if hasattr(result, "numpy") else result[0]).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, rtol=0.0005, atol=0.0001)
