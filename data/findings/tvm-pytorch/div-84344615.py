"""tvm/pytorch: torch.div: crash when rounding_mode is given and dtype(other)≠dtype(input)

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from test 957374f9e92b by hand. Fails with: rounding_mode is given (also as None or by floor_divide), dtype(other)≠dtype(input) where a Python int counts as int32 and a Python float as float32, neither is bool unless an integer is floored by it or it is divided by a Python int.
Actual: TypeError: Binary operators must have the same datatype for both operands. However, R.floor_divide(x0, x1) uses datatype T.float32 on the LHS …, and datatype T.int64 on the RHS
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
inputs = (
    torch.tensor([5.5, -5.5]),
    torch.tensor([2, 2]),
)
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
    assert got.dtype == want.dtype, f"expected dtype {want.dtype}, got {got.dtype}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
