"""executorch/pytorch: torch.nn.functional.layer_norm: wrong for 256 numbers or more of float16 or bfloat16

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: dtype(input) is float16 or bfloat16, normalized_shape has 256 elements or more, input is not all 0.
Expected: [-1.726, -0.8594, 0.006741, 0.8726]
Actual: [-304, -151.2, 1.354, 154]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.layer_norm(x0, (256,))[0, ::64]


model = Model()
inputs = (torch.linspace(-1.0, 1.0, 256, dtype=torch.float16).reshape(1, 256),)
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
