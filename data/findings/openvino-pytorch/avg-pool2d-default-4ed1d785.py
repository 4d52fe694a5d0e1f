"""openvino/pytorch: torch.nn.functional.avg_pool2d: crash when ceil_mode=True and the kernel exceeds the input

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a test of a campaign by hand. Fails with: ceil_mode=True, kernel_size with its dilation is larger than a padded dimension.
Actual: OpConversionFailure: Kernel after dilation has size (dim: 2560) larger than the data shape after padding (dim: 7) at axis 0.
"""

import numpy as np
import openvino as ov
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.avg_pool2d(x0, 3, ceil_mode=True)


model = Model()
inputs = (torch.ones(1, 1, 2, 2),)
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
