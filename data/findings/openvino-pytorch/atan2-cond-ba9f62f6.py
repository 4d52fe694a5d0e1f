"""openvino/pytorch: torch.atan2: abort inside torch.cond or while_loop when empty inputs broadcast

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a call of the source `embedded` by hand. Fails with: input and other are empty and differ in shape, the call stands in a function of torch.cond or while_loop.
Actual: the process ended with a signal, as memory was damaged
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        def taken(x0, x1):
            return (torch.atan2(x0, x1).clone(),)

        def other(x0, x1):
            return (torch.zeros(0, 10, 3),)

        return torch.cond(torch.sum(x0) >= 0, taken, other, (x0, x1))[0]


model = Model()
inputs = (torch.zeros(0, 1, 3), torch.zeros(0, 10, 3),)
with torch.no_grad():
    expected = model(*inputs).numpy()

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled([value.numpy() for value in inputs])[compiled.outputs[0]]

assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
np.testing.assert_array_equal(actual, expected)
