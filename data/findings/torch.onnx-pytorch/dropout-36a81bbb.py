"""torch.onnx (exporter, before onnxruntime): torch.nn.functional.dropout, torch.bernoulli: same draw when a call is made twice

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a random operator (finding 36a81bbbb99fd737). Fails with: an operator that becomes Dropout or Bernoulli is called
twice, the calls have the same input and the same parameters.
Actual: AssertionError: 1.000 of 4000 elements are alike in two draws with p = 0.5
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return (torch.nn.functional.dropout(x0, 0.5), torch.nn.functional.dropout(x0, 0.5))


model = Model()
inputs = (torch.ones(4000),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

assert len(actual) == 2, f"expected 2 outputs, got {len(actual)}"
for draw in actual:
    assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
    assert draw.shape == (4000,), f"expected shape (4000,), got {draw.shape}"
alike = float(np.mean(actual[0] == actual[1]))
assert abs(alike - 0.5) < 0.05, f"{alike:.3f} of 4000 elements are alike in two draws with p = 0.5"
