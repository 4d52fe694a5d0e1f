"""openvino/pytorch: torch.rand: crash when size=()

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from the test of a random call (finding a4c3fd4d1e5a228d). Fails with: size=().
Actual: OpConversionFailure: Check '!input_shapes.empty()' failed at src/core/shape_inference/include/concat_shape_inference.hpp:17:
"""

import numpy as np
import openvino as ov
import torch

class Model(torch.nn.Module):
    def forward(self):
        return torch.rand(()) + 1


model = Model()
inputs = ()

captured = torch.jit.trace(model, inputs, check_trace=False)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
(actual,) = compiled([value.numpy() for value in inputs]).values()

assert actual.dtype == np.float32 and actual.shape == (), f"expected float32 of shape (), got {actual.dtype} of {actual.shape}"
