"""openvino/pytorch: crash in aten.max

Seen with torch 2.13.0+cpu, openvino 2026.4.1-22982-e213a147257-releases/2026/4, device CPU, precision f32.
Reduced from test f17963979b5e. Fails with: rank(input)=0.
Actual: OpConversionFailure: [PyTorch Frontend] Index: 1 is out of bounds of input list of len: 1
"""

import numpy as np
import openvino as ov
import torch
from torch.utils._pytree import tree_leaves

class Model(torch.nn.Module):
    def forward(self, x0):
        return tuple(leaf for leaf in tree_leaves(torch.max(x0, 0, True)) if isinstance(leaf, torch.Tensor))


torch.manual_seed(0)
model = Model()
inputs = (
    torch.from_numpy(np.array(1.0, np.float32).copy()),
)

captured = torch.export.export(model, inputs)
converted = ov.convert_model(captured, input=[list(value.shape) for value in inputs])
compiled = ov.Core().compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
result = compiled([value.contiguous().numpy() for value in inputs])
