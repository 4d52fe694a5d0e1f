"""torch.onnx (exporter, before onnxruntime): torch.multinomial: shape () for (1,) when input has rank 1 and num_samples=1

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a call by hand (finding 5388cde43cb86c21). Fails with: input has rank 1, num_samples=1.
Actual: AssertionError: expected shape (1,), got ()
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.multinomial(x0, 1)


model = Model()
inputs = (torch.ones(5),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.int64, f"expected dtype int64, got {draw.dtype}"
assert draw.shape == (1,), f"expected shape (1,), got {draw.shape}"
assert 0 <= draw[0] < 5, f"drew {draw[0]} of 5 numbers"
