"""tvm/pytorch: batch_norm, instance_norm: crash when channels are open and the batch gives the statistics

Seen with torch 2.13.0+cpu, tvm 0.27.0.post1, target llvm, pipeline default.
Fails with: the statistics are those of the batch, the number of channels is open, for instance_norm that of batch and channels.
Actual: TypeError: int() argument must be a string, a bytes-like object or a real number, not 'Var'
"""

import numpy as np
import torch
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.batch_norm(x, None, None, training=True)


model = Model()
value = torch.arange(6.0).reshape(2, 3)
with torch.no_grad():
    expected = model(value).numpy()

program = torch.export.export(model, (value,), dynamic_shapes={"x": {1: torch.export.Dim.AUTO}})
module = from_exported_program(program)
machine = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
result = machine["main"](tvm.runtime.tensor(value.numpy()))
actual = (result if hasattr(result, "numpy") else result[0]).numpy()

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, rtol=0.0005, atol=0.0001)
