"""executorch/pytorch: torch.flip: wrong numbers when the memory format is channels_last

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: input has the memory format channels_last, dims has another axis than the first that has several elements, height and width are not both 1.
Expected: [4, 5, 6, 7, 0, 1, 2, 3]
Actual: [2, 3, 0, 1, 6, 7, 4, 5]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.flip(x0, (1,))


model = Model()
inputs = (torch.arange(8.0).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last),)
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
