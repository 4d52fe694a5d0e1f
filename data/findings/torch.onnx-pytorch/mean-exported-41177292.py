"""torch.onnx/pytorch: torch.mean: computed in integers when dim and dtype are given and input is integer or bool

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: dtype and dim are given, dtype(input) is integer or bool, rank(input)≠0, a mean is no whole number or dtype(input) is neither int32 nor int64.
Actual: values differ: [0]: 1.0 (ACTUAL), 1.5 (DESIRED) [1]: 5.0 (ACTUAL), 5.5 (DESIRED)
"""

import numpy as np
import onnxruntime as ort
import torch


class Model(torch.nn.Module):
    def forward(self, x0):
        return torch.mean(x0, 1, dtype=torch.float32)


model = Model()
inputs = (torch.tensor([[1, 2], [4, 7]]),)
with torch.no_grad():
    result = model(*inputs)
expected = [result.numpy()]

exported = torch.onnx.export(torch.export.export(model, inputs), dynamo=True, verbose=False)
session = ort.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
actual = session.run(None, {entry.name: value.contiguous().numpy() for entry, value in zip(session.get_inputs(), inputs)})

assert len(actual) == len(expected), f"expected {len(expected)} outputs, got {len(actual)}"
for want, got in zip(expected, actual):
    assert got.dtype == want.dtype, f"expected {want.dtype}, got {got.dtype}"
    assert got.shape == want.shape, f"expected shape {want.shape}, got {got.shape}"
    np.testing.assert_allclose(got, want, rtol=0.0005, atol=0.0001)
