"""executorch/pytorch: torch.addmm: sums of float16 and bfloat16 stop growing

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: dtype(input) is float16 or bfloat16, added one after the other in their dtype the products give another sum, the call is addmm or is decomposed into it.
Expected: [4096]
Actual: [2048]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1, x2):
        return torch.addmm(x0, x1, x2)


model = Model()
inputs = (torch.zeros(1, 1, dtype=torch.float16), torch.ones(1, 4096, dtype=torch.float16), torch.ones(4096, 1, dtype=torch.float16))
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.export.export(model, inputs)
edge = to_edge_transform_and_lower(exported)
program = Runtime.get().load_program(edge.to_executorch().buffer)
outputs = program.load_method("forward").execute([value.clone() for value in inputs])
actual = [value.numpy() for value in outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype and got.shape == want.shape, f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
