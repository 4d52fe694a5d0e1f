"""openvino/pytorch: torch.max: crash when input is 0-d and dim is given

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from test f17963979b5e. Fails with: dim is given, rank(input)=0.
Actual: OpConversionFailure: [PyTorch Frontend] Index: 1 is out of bounds of input list of len: 1
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return tuple(torch.max(x0, 0, True))


model = Model()
inputs = (torch.tensor(1.0),)
with torch.no_grad():
    result = model(*inputs)
expected = [leaf.numpy() for leaf in result]

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.contiguous().numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
