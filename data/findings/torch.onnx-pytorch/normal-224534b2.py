"""torch.onnx (exporter, before onnxruntime): torch.normal: equal random numbers when mean has fewer elements than std

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a call by hand (finding 224534b25b1c3f72). Fails with: mean and std are tensors, mean has fewer elements than the
result.
Actual: AssertionError: the standard deviation of 4000 draws with std = 1 is 0.000
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.normal(x0, x1)


model = Model()
inputs = (torch.zeros(1), torch.ones(4000))
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
deviation = float(np.std(draw, dtype=np.float64))
assert abs(deviation - 1) < 0.15, f"the standard deviation of 4000 draws with std = 1 is {deviation:.3f}"
