"""torch.onnx (exporter, before onnxruntime): torch.randint: high itself is drawn, or low bits are 0, when bounds are large

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a call by hand (finding 4d1e906da3029a2a). Fails with: a bound is large beside high - low, or high - low is above 2^24.
Actual: AssertionError: some of 4000 draws from [4194304, 4194306) are 4194306
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return x0 + torch.randint(4194304, 4194306, (4000,))


model = Model()
inputs = (torch.zeros(4000, dtype=torch.int64),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.int64, f"expected dtype int64, got {draw.dtype}"
assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
assert np.all((draw == 4194304) | (draw == 4194305)), f"some of 4000 draws from [4194304, 4194306) are {draw.max()}"
