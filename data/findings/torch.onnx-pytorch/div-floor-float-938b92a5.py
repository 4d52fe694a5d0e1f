"""torch.onnx/pytorch: torch.div(rounding_mode="floor"): 1.0 by 0.1 is 10, not 9, for floats

Seen with torch 2.13.0+cpu, onnxscript 0.7.2, onnxruntime 1.31.1, provider CPUExecutionProvider, optimization all.
Written by hand. Fails with: the result is floating-point, rounding input / other to float32 or float64 changes its floor, or input is infinite and other finite and not 0, or other is infinite and input finite and of the other sign.
Actual: values differ: [0]: 10.0 (ACTUAL), 9.0 (DESIRED)
"""

import numpy as np
import onnxruntime as ort
import torch


class Model(torch.nn.Module):
    def forward(self, x0, x1):
        return torch.div(x0, x1, rounding_mode="floor")


model = Model()
inputs = (torch.tensor([1.0, 7.0]), torch.tensor([0.1, 2.0]))
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
