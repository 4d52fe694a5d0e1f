"""torch.onnx (exporter, before onnxruntime): torch.normal: one random number for all elements when mean is a number and std a tensor

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a random operator (finding 50a575548b9fe75a). Fails with: mean is a number, std is a tensor of more than one
element.
Actual: AssertionError: the standard deviation of 4000 draws with std = 1 is 0.000
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.normal(0.0, x0)


model = Model()
inputs = (torch.ones(4000),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
deviation = float(np.std(draw, dtype=np.float64))
assert abs(deviation - 1) < 0.15, f"the standard deviation of 4000 draws with std = 1 is {deviation:.3f}"
