"""torch.onnx (exporter, before onnxruntime): torch.multinomial: a number is drawn twice when replacement=False and num_samples≥2

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a random operator (finding 8c17e289aabddc24). Fails with: replacement=False, num_samples≥2.
Actual: AssertionError: a number stands twice in a row drawn without replacement
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.multinomial(x0, 3)


model = Model()
inputs = (torch.tensor([[1.0, 1.0, 2.0, 0.0, 4.0]]).repeat(1000, 1),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.int64, f"expected dtype int64, got {draw.dtype}"
assert draw.shape == (1000, 3), f"expected shape (1000, 3), got {draw.shape}"
ordered = np.sort(draw, axis=1)
twice = np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)
assert not np.any(twice), "a number stands twice in a row drawn without replacement"
