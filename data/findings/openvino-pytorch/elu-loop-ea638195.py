"""openvino/pytorch: torch.nn.functional.elu, selu: crash inside torch.while_loop when input is empty

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from a call of the source `embedded` by hand. Fails with: input is empty, the call stands in the body of while_loop.
Actual: RuntimeError: Can not create StaticMemory object. The memory desc is undefined
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        def goes_on(number, state):
            return number < 2

        def once(number, state):
            return number + 1, torch.nn.functional.elu(state)

        return torch._higher_order_ops.while_loop(goes_on, once, (torch.zeros((), dtype=torch.int64), x0.clone()))[1]


model = Model()
inputs = (torch.zeros(1, 0, 3),)
with torch.no_grad():
    expected = model(*inputs).numpy()

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
actual = compiled([value.numpy() for value in inputs])[compiled.outputs[0]]

assert actual.shape == expected.shape, f"expected shape {expected.shape}, got {actual.shape}"
assert actual.dtype == expected.dtype, f"expected {expected.dtype}, got {actual.dtype}"
np.testing.assert_array_equal(actual, expected)
