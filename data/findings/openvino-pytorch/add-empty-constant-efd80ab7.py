"""openvino/pytorch: torch.add: abort when a constant without elements is broadcast

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand after finding efd80ab72e469c93. Fails with: an operand is a constant without elements, or is folded to one, another constant has several elements along an axis on which the first has size 1 or none, behind its axis of size 0.
Actual: the process ended with SIGSEGV
"""

import numpy as np
import openvino as ov
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 + (torch.ones(2, 0, 1000) + torch.ones(1000))


model = Model()
inputs = (torch.zeros(2, 0, 1000),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.contiguous().numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
