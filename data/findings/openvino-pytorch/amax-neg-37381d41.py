"""openvino/pytorch: torch.neg: zeros in later batches when it reads torch.amax of integers of rank 3

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand after finding 37381d4139008c66 of a generated program.
Actual: values: expected -3, got 0 (67% of the elements)
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.neg(torch.amax(x0, [1, 2]))


model = Model()
inputs = (torch.tensor([[[2]], [[3]], [[4]]], dtype=torch.int32),)
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
    np.testing.assert_array_equal(got, want)
