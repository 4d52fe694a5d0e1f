"""tvm/pytorch: inconsistent in _reciprocal+_binary_op(mul.Tensor)

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Reduced from test f521728be194. Fails with: dtype(other)≠float32, dtype(self) is integer.
Expected: the result of the library
Actual:   dtype: expected float32, got int64
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.Tensor.__rtruediv__(x0, x1)


torch.manual_seed(0)
model = Model()
inputs = (
    torch.from_numpy(np.array(1, np.int64).copy()),
    torch.from_numpy(np.array(1, np.int64).copy()),
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

for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected dtype {want.dtype}, got {got.dtype}"
