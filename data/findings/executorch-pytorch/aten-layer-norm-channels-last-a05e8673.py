"""executorch/pytorch: torch.nn.functional.layer_norm: wrong numbers when the memory format is channels_last

Seen with torch 2.13.0+cpu, executorch 1.5.1, kernels portable.
Written by hand. Fails with: input has the memory format channels_last, several channels, height and width are not both 1, normalized_shape has several elements.
Expected: [-1, 1, -1, 1, 1, -1, 1, -1]
Actual: [-1, 1, 1, -1, 1, -1, 1, -1]
"""

from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
import numpy as np
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.layer_norm(x0, (2,))


model = Model()
inputs = (torch.tensor([0.0, 1.0, 4.0, 9.0, 1.0, 0.0, 3.0, 2.0]).reshape(1, 2, 2, 2).to(memory_format=torch.channels_last),)
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
