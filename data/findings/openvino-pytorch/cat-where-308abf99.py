"""openvino/pytorch: torch.where: abort (SIGABRT) when three empty tensors are concatenated and selected from

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a generated program (finding 308abf992629948c). Fails with: three or more empty tensors are concatenated, the result and a constant mask that is empty, too, and has fewer dimensions go to where, triu or tril.
Actual: the process ended with SIGABRT
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.where(torch.ones(0, 3, dtype=torch.bool), torch.cat([x0, x1, x0]), 0.0)


model = Model()
inputs = (torch.zeros(1, 0, 3), torch.zeros(1, 0, 3))
with torch.no_grad():
    result = model(*inputs)
expected = [value.numpy() for value in (result if isinstance(result, tuple) else (result,))]

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.contiguous().numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
