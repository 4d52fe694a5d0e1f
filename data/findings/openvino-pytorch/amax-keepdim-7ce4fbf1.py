"""openvino/pytorch: torch.amax: crash when keepdim=True and the input has no dimensions

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of keras.ops.max (finding 7ce4fbf16cf41067). Fails with: rank(input)=0, dim is given, keepdim=True.
Actual: OpConversionFailure: Accessing out-of-range dimension
"""

import numpy as np
import openvino as ov
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.amax(x0, 0, keepdim=True)


model = Model()
inputs = (torch.tensor(1.5),)
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
