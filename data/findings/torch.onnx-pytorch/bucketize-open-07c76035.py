"""torch.onnx (exporter, before onnxruntime): torch.bucketize: crash when the number of boundaries is open

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.32.0, provider CPUExecutionProvider, optimization all.
Fails with: the number of boundaries is open.
Actual: ConversionError: Failed to decompose the FX graph for ONNX compatibility. This is step 2/3 of exporting the model to ONNX. Next steps:
"""

import numpy as np
import onnxruntime
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.bucketize(torch.tensor([0.5, 2.5]), x)


model = Model()
value = torch.tensor([1.0, 2.0, 3.0])
with torch.no_grad():
    expected = model(value).numpy()

program = torch.export.export(model, (value,), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
exported = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
session = onnxruntime.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
(actual,) = session.run(None, {session.get_inputs()[0].name: value.numpy()})

assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), f"got {actual.dtype} {actual.shape}"
np.testing.assert_allclose(actual, expected, 1e-4)
