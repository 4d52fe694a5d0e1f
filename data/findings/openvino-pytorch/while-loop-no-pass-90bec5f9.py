"""openvino/pytorch: torch.while_loop: wrong result when the condition is false at first

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the condition is false before the first pass, the body changes the state.
Expected: [1, 2], the state as it was
Actual: values differ: [2, 4] (ACTUAL), [1, 2] (DESIRED)
"""

import numpy as np
import openvino as ov
import torch
from torch._higher_order_ops.while_loop import while_loop


class Model(torch.nn.Module):
    def forward(self, x0):
        def goes_on(state):
            return torch.sum(state) < 0

        def once(state):
            return (state * 2,)

        return while_loop(goes_on, once, (x0,))[0]


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)
with torch.no_grad():
    expected = model(*inputs).numpy()

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled([value.numpy() for value in inputs])[compiled.outputs[0]]

assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
np.testing.assert_array_equal(actual, expected)
