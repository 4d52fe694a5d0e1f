"""tvm/pytorch: torch.full_like, torch.full: crash when fill_value is infinite or NaN

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from a test of a campaign by hand. Fails with: fill_value is infinite or NaN.
Actual: TypeError: argument of type 'PrimType' is not iterable
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.full_like(x0, -np.inf)


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)
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
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
