"""torch.onnx (exporter, before onnxruntime): torch.Tensor.normal_: shape (1,) for () when the tensor has rank 0

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Reduced from the test of a call by hand (finding 737cd2e77b95c4b5). Fails with: the tensor has rank 0.
Actual: AssertionError: expected shape (), got (1,)
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return x0.clone().normal_()


model = Model()
inputs = (torch.tensor(0.0),)
exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

(draw,) = actual
assert draw.dtype == np.float32, f"expected dtype float32, got {draw.dtype}"
assert draw.shape == (), f"expected shape (), got {draw.shape}"
