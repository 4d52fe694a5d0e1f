"""torch.onnx (exporter, before onnxruntime): torch.normal: crash when mean is a tensor and std is 1 or not given

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a random operator (finding 3bf2c3d54df3b2ff). Fails with: mean is a tensor, std is 1.0 or not given.
Actual: ConversionError: <class 'TypeError'>: aten_normal_tensor_float() missing 1 required positional argument: 'std'
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.normal(x0, 1.0)


model = Model()
inputs = (torch.zeros(4000),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
deviation = float(np.std(draw, dtype=np.float64))
assert abs(deviation - 1) < 0.15, f"the standard deviation of 4000 draws with std = 1 is {deviation:.3f}"
