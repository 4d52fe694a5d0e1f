"""openvino/pytorch: dequantize_per_tensor: the integers come back as they are, without scale and zero point

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Written by hand. Fails with: the call is a quantize or dequantize call of quantized_decomposed, the other one of the same scale and zero point does not undo it.
Expected: float32 [0.5, 1.0], the integers times the scale
Actual: values differ: [1, 2] (ACTUAL), [0.5, 1.0] (DESIRED)
"""

import numpy as np
import openvino as ov
import torch
import torch.ao.quantization.fx._decomposed


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.quantized_decomposed.dequantize_per_tensor(x, 0.5, 0, -128, 127, torch.int8)


x = torch.tensor([1, 2], dtype=torch.int8)
expected = np.array([0.5, 1.0], np.float32)

converted = ov.convert_model(torch.export.export(Model().eval(), (x,)))
actual = ov.compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x.numpy()])[0]

np.testing.assert_array_equal(actual, expected)
