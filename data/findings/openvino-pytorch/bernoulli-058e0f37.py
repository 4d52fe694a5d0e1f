"""openvino/pytorch: torch.bernoulli: same numbers when two calls take their shape from one tensor

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding 058e0f3759c82937). Fails with: two calls take their shape (multinomial its probabilities) from one tensor, they draw in one dtype, not both results of rand_like are outputs as they are.
Actual: AssertionError: the two draws are equal, and are to be independent
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.bernoulli(x0) * 2, torch.bernoulli(x0) * 2


model = Model()
inputs = (torch.full((40, 100), 0.5),)

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.numpy() for value in inputs])
actual = [result[port] for port in compiled.outputs]

for got in actual:
    assert got.dtype == np.float32 and got.shape == (40, 100), f"expected float32 of shape (40, 100), got {got.dtype} of {got.shape}"
    assert abs(got.mean() - 1) < 0.2, f"expected the mean 1 of numbers 0 and 2, got {got.mean()}"
assert not np.array_equal(*actual), "the two draws are equal, and are to be independent"
share = np.mean((actual[0] == 2) & (actual[1] == 2))
assert abs(share - 0.25) < 0.08, f"expected 2 in both draws in a quarter of the places, got {share}"
