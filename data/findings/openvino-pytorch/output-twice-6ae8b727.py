"""openvino/pytorch: torch.nn.Module: crash when an exported program returns one value twice

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated program (finding 6ae8b727e4e476f3). Fails with: a value that is no input is two results of the module.
Actual: GeneralFailure: Tensor name is not a number: add:0
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        x1 = x0 + 1
        return x1, x1


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)
with torch.no_grad():
    result = model(*inputs)
expected = [value.numpy() for value in (result if isinstance(result, tuple) else (result,))]

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.contiguous().numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
