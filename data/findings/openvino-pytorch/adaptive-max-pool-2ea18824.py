"""openvino/pytorch: torch.nn.functional.adaptive_max_pool2d: wrong shape when output_size has a 0, no batch

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated setting (finding 2ea188240d21c75c). Fails with: input has no batch, output_size has a 0.
Actual: shape: expected [3, 2, 0], got [3, 2, 2]
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.adaptive_max_pool2d(x0, (2, 0))


model = Model()
inputs = (torch.ones((3, 4, 4)),)
with torch.no_grad():
    expected = model(*inputs).numpy()

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled([value.numpy() for value in inputs])[compiled.outputs[0]]

assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
np.testing.assert_array_equal(actual, expected)
