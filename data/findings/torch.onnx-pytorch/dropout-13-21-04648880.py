"""torch.onnx (exporter, before onnxruntime): torch.nn.functional.dropout: crash when p=1 and training=True

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Reduced from test 927c3b2f3442. Fails with: p=1.0, training=True, inplace=False.
Actual: Fail: float onnxruntime::{anonymous}::GetRatioOrDefault(const onnxruntime::Tensor*) [with T2 = float] 0.0f <= ratio_value && ratio_value < 1.0f was false. ratio must be in the range [0, 1)
"""

import numpy as np
import onnxruntime as ort
import torch

class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.nn.functional.dropout(x0, p=1.0)


model = Model()
inputs = (torch.tensor([1.0, 2.0]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"expected {want.dtype} {want.shape}, got {got.dtype} {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
